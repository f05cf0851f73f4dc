//! Exports that nest too deeply.

use roundtable_debate::{ImportError, Record};

#[test]
fn s23_an_import_that_nests_too_deeply_is_refused_before_it_is_parsed() {
    for levels in [65, 100_000] {
        let file = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        let what =
            format!("the JSON is nested {levels} levels deep; at most 64 levels are allowed");
        assert_eq!(Record::import(&file), Err(ImportError::NotAnExport { what }));
    }
}
