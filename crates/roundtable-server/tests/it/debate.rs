//! What an answer says, over every transport.

use roundtable::prelude::*;
use serde_json::json;

use crate::caller::ALL;
use crate::context_requests::{AGENTS, says, topic};
use crate::kit;

#[tokio::test]
async fn an_answer_says_what_the_round_came_to_and_what_to_do_next() {
    for transport in ALL {
        let running = kit::local(
            Script::default().voice(AGENTS[0], [says("Yes.")]).voice(AGENTS[1], [says("No.")]),
        )
        .await;
        let caller = running.caller(transport);
        let answer = caller.start(topic()).await.expect("a round");
        assert_eq!(answer["topic"], "Shall we?");
        assert_eq!(answer["mode"], "collaborative");
        assert_eq!(
            (&answer["roundNumber"], &answer["totalRounds"], &answer["currentRound"]),
            (&json!(1), &json!(3), &json!(1))
        );
        let responses = answer["agentResponses"].as_array().expect("responses");
        let said: Vec<_> =
            responses.iter().map(|it| (it["agentId"].clone(), it["position"].clone())).collect();
        assert_eq!(
            said,
            [(json!("agt_synthesizer"), json!("Yes.")), (json!("agt_analyst"), json!("No."))]
        );
        assert_eq!(responses[0]["confidence"], 0.5);
        assert!(
            ["high", "medium", "low"]
                .contains(&answer["decision"]["consensusLevel"].as_str().unwrap())
        );
        assert!(answer["decision"]["agreementScore"].is_number());
        assert!(answer["decision"]["actionRecommendation"]["reason"].is_string());
        assert!(answer["nextStep"].as_str().unwrap().contains("continue_roundtable"));
        assert!(answer["usage"]["tokens"].is_number());
        running.stop().await;
    }
}
