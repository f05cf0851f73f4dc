//! What a model costs, as the configuration says it: then a limit of money can be held to.

use crate::binary::Home;
use crate::debate::position;
use crate::provider::Provider;

/// A model of a vendor without prices, with this said of it.
fn home(provider: &Provider, price: &str) -> Home {
    let home = Home::new();
    let text = format!(
        "[defaults]\nmodel = \"ours\"\n[models.ours]\nmodel = \"vllm/m\"\n{price}\n\
         [providers.vllm]\nbase_url = \"{}\"\n[agents.ada]\nmax_tokens = 100\n[agents.ben]\nmax_tokens = 100\n",
        provider.address
    );
    home.write("roundtable.toml", &text);
    home
}

const PRICE: &str = "price = { input = 2.5, output = 10, cached = 0.25 }";
const DEBATE: [&str; 6] = ["debate", "Begin?", "--rounds", "1", "--budget", "dollars=0.10"];

#[test]
fn a_limit_of_money_needs_a_price_and_the_configuration_can_say_it() {
    let provider = Provider::start(vec![position("YES", "Begin now.", 0.8)]);
    let refused = home(&provider, "").run_with(&[], &DEBATE);
    assert_eq!((refused.code, provider.received().len()), (Some(1), 0), "{}", refused.out);
    assert!(
        refused.err.contains("the price of Ada's model ours is unknown; set its price"),
        "{}",
        refused.err
    );
    let ran = home(&provider, PRICE).run_with(&[], &DEBATE);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains("\nEstimated cost: at most $0.0"), "{}", ran.err);
    // Two answers and an analysis, 20 tokens in and 7 out each: 3 x (20 x 2.5 + 7 x 10) / 1,000,000.
    assert!(ran.out.contains("\nTotal: 3 model calls, 81 tokens, $0.000360\n"), "{}", ran.out);
    assert_eq!(provider.received().len(), 3);
}

#[test]
fn a_limit_of_money_ends_turns_that_would_cost_more() {
    let provider = Provider::start(vec![position("YES", "Begin now.", 0.8)]);
    let home = home(&provider, PRICE);
    let ran =
        home.run_with(&[], &["debate", "Begin?", "--rounds", "1", "--budget", "dollars=0.000001"]);
    assert!(
        ran.err.contains("money") || ran.out.contains("the budget of money is exhausted"),
        "{}{}",
        ran.out,
        ran.err
    );
    assert_eq!(provider.received().len(), 0, "nothing that may cost more is asked");
}

#[test]
fn a_price_is_shown_with_its_origin_and_what_is_none_is_refused() {
    let provider = Provider::start(Vec::new());
    let home = home(&provider, PRICE);
    let shown = home.run_with(&[], &["config", "show"]).ok();
    for (part, value) in [("input", "2.5"), ("output", "10"), ("cached", "0.25")] {
        let line =
            shown.lines().find(|line| line.starts_with(&format!("models.ours.price.{part} ")));
        let line = line.unwrap_or_else(|| panic!("{part} in {shown}"));
        assert!(line.contains(value) && line.contains("roundtable.toml:5"), "{line}");
    }
    for (price, why) in [
        ("price = { input = -1, output = 1 }", "models.ours.price.input"),
        ("price = { input = 1 }", "models.ours.price: a price needs both input and output"),
        ("price = { cached = 1 }", "models.ours.price: a price needs both input and output"),
        ("price = { input = 1, output = 1, cache = 1 }", "cached"),
        ("price = 3", "models.ours.price"),
        ("price = { input = nan, output = 1 }", "models.ours.price"),
    ] {
        let checked = self::home(&provider, price).run_with(&[], &["config", "check"]);
        assert_eq!(checked.code, Some(2), "{price}: {}", checked.out);
        assert!(checked.err.contains(why), "{price}: {}", checked.err);
    }
}
