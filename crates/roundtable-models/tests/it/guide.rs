//! The guide says what the catalog says.

use std::fmt::Write as _;
use std::path::Path;

use roundtable_models::Catalog;
use roundtable_models::catalog::{OutputMode, Profile, Vendor};
use roundtable_models::wire::Wire;

fn row(name: &str, vendor: &Vendor, profile: &Profile) -> String {
    let code = |all: &[String]| {
        let all: Vec<String> = all.iter().map(|one| format!("`{one}`")).collect();
        if all.is_empty() { "–".to_owned() } else { all.join(", ") }
    };
    let yes = |yes: bool| if yes { "yes" } else { "no" };
    let quirks = &profile.quirks;
    let key = match (vendor.key_env.is_empty(), vendor.key_optional) {
        (true, _) => "none".to_owned(),
        (false, true) => format!("{}, not needed", code(&vendor.key_env)),
        (false, false) => code(&vendor.key_env),
    };
    let output = match quirks.output {
        OutputMode::Schema => "schema",
        OutputMode::Tool => "tool",
        OutputMode::Instruction => "prompt",
    };
    let back = profile.wire != Wire::OpenaiChat || quirks.reasoning_back.is_some();
    format!(
        "| `{name}` ({}) | `{}` | {key} | {} | {} | {} | {output} | {} |\n",
        vendor.title,
        profile.wire.name(),
        code(&vendor.base_url_env),
        yes(quirks.tools),
        yes(quirks.images),
        yes(back),
    )
}

#[test]
fn the_guide_s_table_is_the_catalog() {
    let catalog = Catalog::builtin().unwrap();
    let mut table = String::new();
    for (name, vendor) in catalog.vendors() {
        let profile = catalog.profile(&format!("{name}/any")).unwrap();
        let _ = write!(table, "{}", row(name, vendor, &profile));
    }
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guides/models.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    let between = guide.split("<!-- vendors: ").nth(1).unwrap();
    let rows: String = between.lines().skip(3).map(|line| format!("{line}\n")).collect();
    assert_eq!(rows, table, "put this into docs/guides/models.md:\n{table}");
}
