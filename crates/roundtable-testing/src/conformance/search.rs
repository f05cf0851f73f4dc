//! Messages: found by their words, and by nobody who may not read them.

use roundtable_core::audience::Audience;
use roundtable_core::event::{Change, Opening, Seq};
use roundtable_core::id::AgentId;
use roundtable_core::input::{Command, Reply, Report, Say};
use roundtable_core::projection::COMPLETION;
use roundtable_core::search::WordQuery;
use roundtable_core::settings::{Order, Settings};
use roundtable_core::stage::Name;
use roundtable_core::want::Want;
use roundtable_ports::{
    FoundMessage, MessageFilter, MessageKey, MessageText, MessageVector, SearchViewer, Space, Store,
};

use super::fixture::{Draft, session};
use crate::{message, opening};

/// A chat of Ann alone, whose rounds end with her answer.
async fn open(store: &Store, name: &str, change: impl FnOnce(&mut Opening)) -> Draft {
    let mut draft = Draft::claim(store, name, "one").await;
    let settings = Settings { order: Order::Sequential, ..Settings::default() };
    let mut opening = opening(vec![crate::agent("Ann")], settings);
    opening.topic = format!("About the {name}");
    change(&mut opening);
    let events = draft.step(Command::Open(Box::new(opening)));
    draft.append(store, Seq(0), &events).await.expect("a first append");
    draft
}

impl Draft {
    fn message(&self, text: &str) -> Say {
        let number = self.live.session.head;
        message(&self.own.session, &format!("m{number}"), text)
    }

    /// A round: something is said, and every agent whose turn it is answers.
    async fn round(&mut self, store: &Store, text: &str, answer: &str) {
        let say = self.message(text);
        self.send(store, Command::Say(say)).await;
        self.answer(store, answer).await;
    }

    async fn answer(&mut self, store: &Store, answer: &str) {
        while let Some(Want::CallModel { iteration, attempt, .. }) =
            self.live.session.wants().into_iter().next()
        {
            let reply = Reply { text: answer.to_owned(), ..Reply::default() };
            self.send(store, Report::ModelReplied { iteration, attempt, reply }).await;
        }
    }
}

fn words(text: &str) -> WordQuery {
    WordQuery::parse(text).expect("a query")
}

async fn find_with(store: &Store, text: &str, filter: &MessageFilter) -> Vec<FoundMessage> {
    store.messages.find_messages(&words(text), filter, 0, 100).await.expect("a search")
}

async fn find(store: &Store, text: &str) -> Vec<FoundMessage> {
    find_with(store, text, &MessageFilter::default()).await
}

/// The sessions and numbers of what was found.
fn places(found: &[FoundMessage]) -> Vec<(String, u64)> {
    found.iter().map(|it| (it.key.session.suffix().to_owned(), it.key.number)).collect()
}

async fn count(store: &Store, text: &str, filter: &MessageFilter) -> usize {
    find_with(store, text, filter).await.len()
}

pub async fn messages_are_found_by_their_words_in_any_form(store: &Store) {
    let mut lake = open(store, "lake", |_| ()).await;
    lake.round(store, "Where do the otters swim?", "Otters were swimming in the lake.").await;
    let mut hill = open(store, "hill", |opening| opening.kind = Name::constant("scene")).await;
    hill.round(store, "Is there a hill?", "No otter climbs it.").await;
    let mut found = find(store, "OTTER").await;
    found.sort_by(|a, b| (&a.key).cmp(&b.key));
    let places = |found: &[FoundMessage]| places(found);
    let owned = |name: &str, number| (name.to_owned(), number);
    assert_eq!(places(&found), [owned("hill", 2), owned("lake", 1), owned("lake", 2)]);
    assert_eq!(places(&find(store, "otters swim lake").await), [owned("lake", 2)], "all words");
    assert!(find(store, "otters nowhere").await.is_empty());
    let [scene, asked, answered] = &found[..] else { panic!("{found:?}") };
    assert_eq!((scene.kind.as_str(), scene.title.as_str()), ("scene", "About the hill"));
    assert_eq!((asked.sender.as_str(), asked.by_agent, asked.round), ("User", false, 1));
    assert_eq!((answered.sender.as_str(), answered.by_agent, answered.round), ("Ann", true, 1));
    assert_eq!(answered.snippet.text, "Otters were swimming in the lake.");
    assert_eq!(answered.snippet.matches, [(0, 6)]);
    // The place is the event that made it a message.
    let log = store.log.read(&session("lake"), Seq(1), 100).await.expect("a log");
    let kind = |seq: Seq| {
        let event = log.iter().find(|event| event.seq == seq).expect("an event");
        event.body.kind().to_string()
    };
    assert_eq!([kind(asked.seq), kind(answered.seq)], ["round_opened", "turn_ended"]);
}

pub async fn a_phrase_is_found_where_its_words_follow_each_other(store: &Store) {
    let mut lake = open(store, "lake", |_| ()).await;
    lake.round(store, "blue green", "green blue").await;
    assert_eq!(find(store, "\"blue green\"").await.len(), 1);
    assert_eq!(find(store, "blue green").await.len(), 2);
    let any = words("blue yellow").any();
    let filter = MessageFilter::default();
    let found = store.messages.find_messages(&any, &filter, 0, 10).await.expect("a search");
    assert_eq!(found.len(), 2, "one word is enough where that is asked for");
}

pub async fn of_many_messages_the_best_come_first_page_by_page(store: &Store) {
    let mut lake = open(store, "lake", |_| ()).await;
    lake.round(store, "one two three four five canary", "canary canary canary").await;
    lake.round(store, "six seven eight nine ten canary", "nothing").await;
    let all = find(store, "canary").await;
    assert_eq!(all.first().map(|it| it.key.number), Some(2), "{all:?}");
    assert!(all.windows(2).all(|pair| pair[0].score >= pair[1].score), "{all:?}");
    let mut paged = Vec::new();
    let filter = MessageFilter::default();
    for skip in 0..4 {
        let page = store.messages.find_messages(&words("canary"), &filter, skip, 1).await;
        paged.extend(page.expect("a page"));
    }
    assert_eq!(paged, all);
    let until = Some(jiff::Timestamp::from_second(1).expect("a time"));
    assert!(find_with(store, "canary", &MessageFilter { until, ..filter }).await.is_empty());
}

pub async fn s19_no_query_is_syntax(store: &Store) {
    let mut lake = open(store, "lake", |_| ()).await;
    lake.round(store, "canary", "text").await;
    for hostile in
        ["can*", "text:canary", "NEAR(canary text)", "canary NOT text", "^canary AND -", "(canary"]
    {
        let found = find(store, hostile).await;
        assert!(found.len() <= 1, "{hostile}: {found:?}");
    }
    assert!(find(store, "can*").await.is_empty(), "a star is not a prefix");
    assert!(find(store, "canary OR text").await.is_empty(), "a word like any other");
    assert_eq!(find(store, "\"canary").await.len(), 1);
}

pub async fn s01_nothing_of_another_tenant_is_found(store: &Store) {
    for (name, tenant) in [("lake", Some("ann")), ("hill", Some("bob")), ("wood", None)] {
        let tenant = tenant.map(str::to_owned);
        let mut draft = open(store, name, |opening| opening.tenant = tenant).await;
        draft.round(store, "canary", "text").await;
    }
    let filter = |tenant: Option<&str>| MessageFilter {
        tenant: Some(tenant.map(str::to_owned)),
        ..MessageFilter::default()
    };
    let names = async |filter: MessageFilter| places(&find_with(store, "canary", &filter).await);
    assert_eq!(names(filter(Some("ann"))).await, [("lake".to_owned(), 1)]);
    assert_eq!(names(filter(None)).await, [("wood".to_owned(), 1)]);
    assert!(names(filter(Some("cyd"))).await.is_empty());
    let other = MessageFilter { session: Some(session("hill")), ..filter(Some("ann")) };
    assert!(names(other.clone()).await.is_empty(), "a session of another tenant by its id");
    let key = MessageKey { session: session("hill"), number: 1 };
    let read = store.messages.read_messages(&[key], &words("canary"), &other).await;
    assert!(read.expect("an answer").is_empty());
    assert_eq!(names(MessageFilter::default()).await.len(), 3, "no tenant named: all");
}

pub async fn archived_sessions_are_found_when_they_are_asked_for(store: &Store) {
    let mut lake = open(store, "lake", |_| ()).await;
    lake.round(store, "canary", "text").await;
    let change = Change { archived: Some(true), ..Change::default() };
    lake.send(store, Command::Change(change)).await;
    let with = MessageFilter { archived: true, ..MessageFilter::default() };
    assert_eq!(count(store, "canary", &MessageFilter::default()).await, 0);
    assert_eq!(count(store, "canary", &with).await, 1);
    let mut once = open(store, "once", |opening| opening.kind = COMPLETION).await;
    once.round(store, "canary", "text").await;
    assert_eq!(count(store, "canary", &with).await, 1, "single requests are not listed");
    let completions = MessageFilter { kind: Some(COMPLETION), ..with.clone() };
    assert_eq!(count(store, "canary", &completions).await, 1);
    let scenes = MessageFilter { kind: Some(Name::constant("scene")), ..with };
    assert_eq!(count(store, "canary", &scenes).await, 0);
}

pub async fn s26_a_whisper_is_found_by_those_who_sent_or_received_it(store: &Store) {
    let bob = crate::agent("Bob");
    let mut lake = open(store, "lake", |opening| opening.agents.push(bob)).await;
    let ann = AgentId::new("ann").expect("an id");
    let to: Audience = [ann.clone()].into_iter().collect();
    let whisper = Say { to: Some(to), sender: "Zoe".to_owned(), ..lake.message("canary") };
    lake.send(store, Command::Say(whisper)).await;
    lake.answer(store, "A plain answer.").await;
    let seen = async |viewer: SearchViewer| {
        let filter = MessageFilter { viewer, ..MessageFilter::default() };
        let key = MessageKey { session: session("lake"), number: 1 };
        let read = store.messages.read_messages(&[key], &words("canary"), &filter).await;
        let (found, read) = (count(store, "canary", &filter).await, read.expect("an answer").len());
        assert_eq!(found, read, "both ways agree for {:?}", filter.viewer);
        found
    };
    let person = |name: &str| SearchViewer::Person(name.to_owned());
    for (viewer, expected) in [
        (SearchViewer::Everything, 1),
        (person("Zoe"), 1),
        (person("Yann"), 0),
        (person("Ann"), 0),
        (person(""), 0),
        (SearchViewer::Agent(ann), 1),
        (SearchViewer::Agent(AgentId::new("bob").expect("an id")), 0),
    ] {
        assert_eq!(seen(viewer.clone()).await, expected, "{viewer:?}");
    }
    assert_eq!(find(store, "plain answer").await.len(), 2, "what is said to all is found by all");
}

pub async fn messages_of_takes_that_do_not_count_are_not_found(store: &Store) {
    let mut lake = open(store, "lake", |_| ()).await;
    lake.round(store, "A question about canaries", "The first answer").await;
    lake.send(store, Command::Regenerate).await;
    lake.answer(store, "The second answer").await;
    assert!(find(store, "first").await.is_empty(), "a superseded take");
    assert_eq!(find(store, "second").await.len(), 1);
    let question = find(store, "canaries").await;
    assert_eq!(question.len(), 1, "the input belongs to both takes");
    lake.send(store, Command::SelectTake { number: 1, take: 1 }).await;
    assert_eq!((find(store, "first").await.len(), find(store, "second").await.len()), (1, 0));
    assert_ne!(find(store, "canaries").await[0].seq, question[0].seq, "its event is the take's");
    lake.round(store, "Another question", "Another answer").await;
    lake.send(store, Command::Rewind { number: 2 }).await;
    assert!(find(store, "another").await.is_empty(), "rewound");
    assert_eq!(find(store, "canaries").await.len(), 1);
}

fn space() -> Space {
    Space::new("plane", 2)
}

async fn unindexed(store: &Store, limit: usize) -> Vec<MessageText> {
    let sessions = [session("lake"), session("hill")];
    store.messages.list_unindexed(&space(), &sessions, limit).await.expect("a list")
}

async fn index(store: &Store, texts: Vec<MessageText>) {
    let vectors = texts.into_iter().map(|of| MessageVector { of, vector: vec![1.0, 0.0] });
    store.messages.index_messages(&space(), vectors.collect()).await.expect("vectors that fit");
}

pub async fn f38_a_deleted_session_is_not_found_and_gets_no_vectors(store: &Store) {
    let mut lake = open(store, "lake", |_| ()).await;
    lake.round(store, "canary", "text").await;
    let late = unindexed(store, 10).await;
    assert_eq!(late.len(), 2);
    assert!(store.directory.delete(&lake.own).await.expect("a deletion"));
    assert!(find(store, "canary").await.is_empty());
    // Whoever read the texts before may bring their vectors afterwards.
    index(store, late).await;
    assert_eq!(store.vectors.erase_vectors_of(&session("lake")).await, Ok(0));
}

pub async fn messages_without_a_vector_are_listed_until_they_have_one(store: &Store) {
    let mut hill = open(store, "hill", |_| ()).await;
    hill.round(store, "one", "two").await;
    let mut lake = open(store, "lake", |_| ()).await;
    lake.round(store, "three", "four").await;
    let texts =
        |found: &[MessageText]| -> Vec<String> { found.iter().map(|it| it.text.clone()).collect() };
    assert_eq!(texts(&unindexed(store, 10).await), ["three", "four", "one", "two"]);
    let first = unindexed(store, 1).await;
    index(store, first).await;
    assert_eq!(texts(&unindexed(store, 10).await), ["four", "one", "two"]);
    let mut changed = unindexed(store, 1).await;
    changed[0].text = "what it does not say".to_owned();
    index(store, changed).await;
    assert_eq!(texts(&unindexed(store, 10).await), ["four", "one", "two"], "it has no vector");
    let rest = unindexed(store, 10).await;
    index(store, rest).await;
    assert!(unindexed(store, 10).await.is_empty());
    lake.round(store, "five", "six").await;
    assert_eq!(texts(&unindexed(store, 10).await), ["five", "six"]);
    let other = Space::new("other", 2);
    let all = store.messages.list_unindexed(&other, &[session("lake")], 10).await;
    assert_eq!(all.expect("a list").len(), 4, "each space has its own");
}
