use roundtable::core::MessageContext;
use roundtable::core::id::CommandId;
use roundtable::core::input::{Command, OnBusy, Say};
use roundtable::ports::Receipt;
use roundtable::prelude::*;

async fn say_once(session: &Session, message_id: &str, text: &str) -> roundtable::Result<Receipt> {
    let say = Say {
        sender: "Maria".to_owned(),
        text: Some(text.to_owned()),
        on_busy: OnBusy::Interrupt, // or Queue, or Reject
        ..Say::new(MessageContext::new(message_id, session.id(), None)?)
    };
    session.command_once(Command::Say(say), CommandId::new(message_id)?).await
}

pub async fn run() -> roundtable::Result<()> {
    let engine = crate::engine(crate::says("ann", "Yes.")).await?;
    let session = engine.chat("Once").agent("Ann").open().await?;
    let first = say_once(&session, "msg-1", "Is it so?").await?;
    assert_eq!(say_once(&session, "msg-1", "Is it so?").await?, first);
    assert!(say_once(&session, "msg-1", "Is it not so?").await.is_err());
    engine.shutdown().await;
    Ok(())
}
