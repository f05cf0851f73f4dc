//! `OPENAI_API_KEY=… cargo run -p roundtable --example hello`: one question to a vendor's model.

#![expect(clippy::print_stdout, reason = "an example shows what happens")]

use roundtable::prelude::*;

#[tokio::main]
async fn main() -> roundtable::Result<()> {
    let engine = Engine::builder().env(std::env::vars_os()).build().await?;
    let chat = engine.chat("Greetings").agent("Ann").open().await?;
    println!("{}", chat.ask("Say hello in one word.").await?.answers[0].text);
    engine.shutdown().await;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Output};

    use roundtable_testing::provider::{Answer, Server};

    const CHAT: &str = concat!(
        "data: {\"choices\":[{\"delta\":{\"content\":\"Hello.\"},\"finish_reason\":null}]}\n\n",
        "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
    );

    /// The program, in a process with nothing in its environment but these variables.
    async fn run(variables: &[(&'static str, String)]) -> Output {
        let mut program = Command::new(std::env::current_exe().unwrap());
        program.args(["tests::program", "--exact", "--ignored", "--nocapture"]);
        program.env_clear().envs(variables.iter().cloned());
        tokio::task::spawn_blocking(move || program.output()).await.unwrap().unwrap()
    }

    #[test]
    #[ignore = "the tests below run it with an environment of its own"]
    fn program() {
        super::main().unwrap();
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_key_in_the_environment_is_all_that_the_program_needs() {
        let server = Server::start(vec![Answer::events(CHAT)]).await;
        let url = ("OPENAI_BASE_URL", server.address.clone());
        let ran = run(&[("OPENAI_API_KEY", "sk-of-mine".to_owned()), url]).await;
        let out = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert!(ran.status.success() && out.contains("Hello."), "{ran:?}");
        assert_eq!(server.received()[0].headers["authorization"], "Bearer sk-of-mine");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn without_a_key_the_program_names_the_variables() {
        let ran = run(&[]).await;
        let err = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(!ran.status.success() && err.contains("ANTHROPIC_API_KEY"), "{ran:?}");
    }
}
