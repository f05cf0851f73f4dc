use super::*;
use crate::wire::Wire;

fn catalog() -> Catalog {
    Catalog::builtin().unwrap()
}

fn with_key(base_url: Option<&str>) -> Endpoint {
    Endpoint {
        key: Some(Secret::new("sk-canary")),
        base_url: base_url.map(str::to_owned),
        ..Endpoint::default()
    }
}

#[test]
fn every_row_of_the_catalog_makes_a_model() {
    for (name, vendor) in catalog().vendors() {
        let model = vendor.default_model.as_deref().unwrap_or("some-model:latest");
        let address = vendor.base_url.is_none().then_some("http://127.0.0.1:1/v1");
        let made = catalog().model(&format!("{name}/{model}"), with_key(address));
        assert_eq!(made.unwrap().profile().vendor, *name);
        assert!(vendor.key_optional || !vendor.key_env.is_empty(), "{name} names its key");
    }
}

#[test]
fn a_vendor_needs_no_code() {
    let row = r#"
        [vendor.acme]
        title = "Acme"
        wire = "openai_chat"
        base_url = "https://llm.acme.example/v1"
        key_env = ["ACME_KEY"]
        quirks = { tools = false }
        [vendor.acme.models."big"]
        window = 8_000
        price = { base = { input = 1, output = 2 } }
        quirks = { tools = true }
    "#;
    let catalog = catalog().with(row).unwrap();
    let big = catalog.profile("acme/big").unwrap();
    assert_eq!((big.wire, big.window, big.quirks.tools), (Wire::OpenaiChat, Some(8_000), true));
    assert_eq!(catalog.price("acme/big"), Some(Price { input: 1_000_000, output: 2_000_000 }));
    let other = catalog.profile("acme/other").unwrap();
    assert_eq!((other.window, other.price, other.quirks.tools), (None, None, false));
}

#[test]
fn mistakes_in_a_row_are_found_when_it_is_read() {
    let rows = [
        "[vendor.a]\ntitle = \"A\"\nwire = \"telegraph\"",
        "[vendor.a]\ntitle = \"A\"\nwire = \"gemini\"\nquirks = { tols = true }",
        "[vendor.a]\ntitle = \"A\"\nwire = \"gemini\"\nkey = \"sk\"",
        "[vendor.a]\ntitle = \"A\"\nwire = \"gemini\"\nmodels = { x = { quirks = { images = 3 } } }",
        "[vendor.a]\ntitle = \"A\"\nwire = \"gemini\"\nmodels = { x = { price = { base = { input = -1, output = 0 } } } }",
    ];
    for row in rows {
        let error = catalog().with(row).unwrap_err();
        assert!(matches!(error, CatalogError::Malformed(_)), "{row}: {error:?}");
    }
}

#[test]
fn an_unknown_vendor_is_answered_with_the_nearest_name() {
    let error = |name: &str| catalog().profile(name).unwrap_err().to_string();
    assert_eq!(
        error("antropic/claude"),
        "unknown vendor \"antropic\"; did you mean \"anthropic\"?"
    );
    assert_eq!(error("zzz/x"), "unknown vendor \"zzz\"");
    assert_eq!(
        error("claude"),
        "invalid model \"claude\"; use vendor/model, like anthropic/claude-sonnet-4-5"
    );
}

#[test]
fn names_that_would_change_the_address_name_no_model() {
    for name in ["gemini/", "gemini/a?b", "gemini/a#b", "gemini/../x", "gemini/a b", "gemini/é"] {
        let error = catalog().profile(name).unwrap_err();
        assert_eq!(error, CatalogError::NotAModel(name.to_owned()));
    }
}

#[test]
fn a_key_or_an_address_that_is_missing_is_asked_for_by_name() {
    let error = |name: &str| catalog().model(name, Endpoint::default()).unwrap_err().to_string();
    assert_eq!(error("gemini/x"), "gemini needs an API key; set GOOGLE_API_KEY or GEMINI_API_KEY");
    assert_eq!(error("compatible/x"), "compatible needs a URL");
    assert!(catalog().model("ollama/llama3.2", Endpoint::default()).is_ok());
}

#[test]
fn addresses_are_completed_and_checked() {
    let catalog = catalog();
    let address = |vendor: &str, own: &str| {
        catalog.vendor(vendor).unwrap().address(vendor, Some(own)).map_err(|e| e.to_string())
    };
    assert_eq!(address("ollama", "box:11434").unwrap(), "http://box:11434/v1");
    assert_eq!(address("ollama", "0.0.0.0").unwrap(), "http://127.0.0.1:11434/v1");
    assert_eq!(address("ollama", "http://box:11434/v1/").unwrap(), "http://box:11434/v1");
    // As Ollama's own clients read them.
    for (own, meant) in [
        ("0.0.0.0:11434", "http://127.0.0.1:11434/v1"),
        ("http://0.0.0.0:8080", "http://127.0.0.1:8080/v1"),
        (":8080", "http://127.0.0.1:8080/v1"),
        ("box/", "http://box:11434/v1"),
        ("box/path/", "http://box:11434/path/v1"),
        ("box:80/path", "http://box:80/path/v1"),
        ("http://box", "http://box/v1"),
        ("https://box", "https://box/v1"),
        ("[::1]", "http://[::1]:11434/v1"),
        ("[::1]:8080", "http://[::1]:8080/v1"),
        ("[::]", "http://127.0.0.1:11434/v1"),
        ("https://[::1]:8080/path", "https://[::1]:8080/path/v1"),
    ] {
        assert_eq!(address("ollama", own).unwrap(), meant, "{own}");
    }
    assert_eq!(
        address("openai", "https://gateway.example/v1/").unwrap(),
        "https://gateway.example/v1"
    );
    assert_eq!(address("openai", " ").unwrap(), "https://api.openai.com/v1");
    assert!(address("openai", "ftp://x").unwrap_err().contains("neither http://"));
    assert!(address("openai", "https://x/?key=1").unwrap_err().contains('?'));
    let leaky = address("openai", "https://me:sk-canary@x").unwrap_err();
    assert!(leaky.contains("set the key separately") && !leaky.contains("canary"));
}

#[test]
fn a_gateway_in_a_vendor_s_place_is_not_sent_what_only_the_vendor_knows() {
    let cache_key = |address: Option<&str>| {
        catalog().model("openai/gpt-5", with_key(address)).unwrap().profile().quirks.cache_key
    };
    assert!(cache_key(None) && cache_key(Some("https://api.openai.com/v1/")));
    assert!(!cache_key(Some("http://127.0.0.1:4000/v1")));
}

#[test]
fn headers_that_cannot_be_sent_are_refused_without_their_value() {
    let made = |header: &str, value: &str| {
        let headers = [(header.to_owned(), Secret::new(value))].into();
        catalog().model("openai/x", Endpoint { headers, ..with_key(None) })
    };
    assert!(made("OpenAI-Project", "proj_1").is_ok());
    let said = |header: &str, value: &str| made(header, value).unwrap_err().to_string();
    assert_eq!(said("a b", "canary"), "invalid header \"a b\" for openai: invalid header name");
    assert_eq!(
        said("x-team", "canary\nx: y"),
        "invalid header \"x-team\" for openai: invalid characters in the value"
    );
}

#[test]
fn every_price_names_the_vendor_s_page_and_the_day_it_was_read() {
    let pages = [
        ("openai", "https://developers.openai.com/"),
        ("openai-chat", "https://developers.openai.com/"),
        ("anthropic", "https://platform.claude.com/"),
    ];
    for (vendor, row) in catalog().vendors() {
        for (model, row) in &row.models {
            assert_eq!(row.price.is_some(), row.price_source.is_some(), "{vendor}/{model}");
            let Some(source) = &row.price_source else { continue };
            let page = pages.iter().find(|(name, _)| name == vendor).map(|(_, page)| *page);
            let (address, day) = source.rsplit_once(", ").unwrap();
            assert!(page.is_some_and(|page| address.starts_with(page)), "{vendor}/{model}");
            assert!(day.parse::<jiff::civil::Date>().is_ok(), "{vendor}/{model}");
        }
    }
}

#[test]
fn a_dated_version_is_its_model_and_a_smaller_one_is_not() {
    let price = |model: &str| catalog().price(&format!("openai/{model}")).map(|price| price.input);
    assert_eq!(price("gpt-5-mini-2025-08-07"), Some(250_000));
    assert_eq!(price("gpt-5-nano"), Some(50_000));
    let window = |model: &str| catalog().profile(model).unwrap().window;
    assert_eq!(window("openai/gpt-5-2025-08-07"), Some(400_000));
    assert_eq!(window("openai/gpt-5-pro"), None);
    assert_eq!(window("openai/gpt-5.9"), None);
    assert_eq!(window("anthropic/claude-sonnet-4-5-20250929"), Some(200_000));
    assert!(window("gemini/gemini-3-flash-preview").is_some());
}

#[test]
fn s28_nothing_that_is_made_of_an_endpoint_shows_its_key() {
    let endpoint = Endpoint {
        proxy: Some(Secret::new("http://me:proxy-canary@127.0.0.1:1")),
        headers: [("x-gateway".to_owned(), Secret::new("header-canary"))].into(),
        ..with_key(None)
    };
    let shown = format!("{endpoint:?} {:?}", catalog().model("openai/x", endpoint.clone()));
    assert!(!shown.contains("canary"), "{shown}");
    let bad = Endpoint { proxy: Some(Secret::new("http://proxy-canary:x y")), ..with_key(None) };
    let error = catalog().model("openai/x", bad).unwrap_err();
    assert!(!format!("{error} {error:?}").contains("canary"), "{error}");
}
