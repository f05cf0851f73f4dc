//! No file grows beyond what one sitting can read. Functions are clippy's (`too_many_lines`).

use super::{Finding, SourceFile};

/// Where the exceptions are listed.
pub const EXCEPTIONS: &str = "xtask/tidy-exceptions.txt";

const SPLIT_ABOVE: usize = 800;
const LOOK_ABOVE: usize = 400;
const README_BELOW: usize = 120;

/// A file that may have more lines than the others, up to its own ceiling.
struct Exception<'a> {
    lines: usize,
    path: &'a str,
}

pub fn check(files: &[SourceFile], exceptions: &str) -> Vec<Finding> {
    let (exceptions, mut findings) = parse(exceptions);
    for (file, lines) in rust_files(files) {
        let exception = exceptions.iter().find(|exception| exception.path == file.path);
        let most = exception.map_or(SPLIT_ABOVE, |exception| exception.lines.max(SPLIT_ABOVE));
        if lines > most {
            let message = format!("{lines} lines, at most {most}; split it along its concepts");
            findings.push(Finding::new(&file.path, message));
        }
    }
    for Exception { path, .. } in exceptions {
        if !rust_files(files).any(|(file, lines)| file.path == path && lines > SPLIT_ABOVE) {
            findings.push(Finding::new(
                EXCEPTIONS,
                format!("{path} needs no exception any more; remove its line"),
            ));
        }
    }
    findings.extend(files.iter().filter(|file| file.path == "README.md").filter_map(readme));
    findings
}

/// Files that are allowed, and worth a second look.
pub fn notes(files: &[SourceFile]) -> Vec<String> {
    let long =
        rust_files(files).filter(|(_, lines)| (LOOK_ABOVE + 1..=SPLIT_ABOVE).contains(lines));
    long.map(|(file, lines)| {
        format!("{} has {lines} lines; look for a part that stands alone", file.path)
    })
    .collect()
}

fn rust_files(files: &[SourceFile]) -> impl Iterator<Item = (&SourceFile, usize)> {
    files
        .iter()
        .filter(|file| file.path.ends_with(".rs"))
        .map(|file| (file, file.text.lines().count()))
}

fn readme(file: &SourceFile) -> Option<Finding> {
    let lines = file.text.lines().count();
    let message =
        format!("{lines} lines, must stay under {README_BELOW}; move the detail to docs/");
    (lines >= README_BELOW).then(|| Finding::new(&file.path, message))
}

fn parse(text: &str) -> (Vec<Exception<'_>>, Vec<Finding>) {
    let (mut exceptions, mut findings) = (Vec::new(), Vec::new());
    for line in
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        match line
            .split_once(' ')
            .and_then(|(lines, path)| Some((lines.parse().ok()?, path.trim())))
        {
            Some((lines, path)) => exceptions.push(Exception { lines, path }),
            None => findings
                .push(Finding::new(EXCEPTIONS, format!("write `LINES PATH` instead of `{line}`"))),
        }
    }
    (exceptions, findings)
}

#[cfg(test)]
mod tests {
    use super::super::file;
    use super::*;

    fn lines(path: &str, lines: usize) -> SourceFile {
        file(path, &"x\n".repeat(lines))
    }

    #[test]
    fn a_rust_file_has_at_most_800_lines() {
        let files = [lines("a.rs", 800), lines("b.rs", 801), lines("c.sql", 900)];
        let expected =
            [Finding::new("b.rs", "801 lines, at most 800; split it along its concepts")];
        assert_eq!(check(&files, ""), expected);
    }

    #[test]
    fn a_rust_file_above_400_lines_is_a_note() {
        let files =
            [lines("a.rs", 400), lines("b.rs", 401), lines("c.rs", 800), lines("d.rs", 801)];
        let named: Vec<_> = notes(&files).iter().map(|note| note[..8].to_string()).collect();
        assert_eq!(named, ["b.rs has", "c.rs has"]);
    }

    #[test]
    fn the_readme_stays_under_120_lines() {
        assert_eq!(check(&[lines("README.md", 119), lines("docs/README.md", 500)], ""), []);
        let expected =
            [Finding::new("README.md", "120 lines, must stay under 120; move the detail to docs/")];
        assert_eq!(check(&[lines("README.md", 120)], ""), expected);
    }

    #[test]
    fn an_exception_is_a_ceiling_of_its_own() {
        assert_eq!(check(&[lines("a.rs", 900)], "# why\n900 a.rs\n"), []);
        let expected =
            [Finding::new("a.rs", "901 lines, at most 900; split it along its concepts")];
        assert_eq!(check(&[lines("a.rs", 901)], "900 a.rs"), expected);
    }

    #[test]
    fn an_exception_that_is_no_longer_needed_fails() {
        let expected = |path| {
            [Finding::new(
                EXCEPTIONS,
                format!("{path} needs no exception any more; remove its line"),
            )]
        };
        assert_eq!(check(&[lines("a.rs", 800)], "900 a.rs"), expected("a.rs"));
        assert_eq!(check(&[], "900 gone.rs"), expected("gone.rs"));
    }

    #[test]
    fn an_exception_that_cannot_be_read_fails() {
        let expected = [Finding::new(EXCEPTIONS, "write `LINES PATH` instead of `a.rs`")];
        assert_eq!(check(&[], "a.rs"), expected);
    }
}
