//! A table of figures, each with its limit where it has one.

use std::fmt;

/// One figure.
pub struct Row {
    /// What was measured.
    pub name: String,
    /// What came out, in words.
    pub figure: String,
    /// What it is compared with in the same run, in words.
    pub against: String,
    /// The ratio of the two.
    pub ratio: f64,
    /// The most that the ratio may be, if there is an aim.
    pub aim: Option<f64>,
}

/// A table.
#[derive(Default)]
pub struct Report {
    rows: Vec<Row>,
}

impl Report {
    /// Adds a figure and prints it at once, so that a long run shows how far it is.
    pub fn add(&mut self, row: Row) {
        eprintln!("  {}: {} ({})", row.name, row.figure, shown(row.ratio));
        self.rows.push(row);
    }

    /// Prints the whole table and leaves it under `bench/results`.
    ///
    /// # Errors
    /// When it cannot be written, or an aim is not met.
    pub fn finish(&self, name: &str) -> anyhow::Result<()> {
        println!("\n{self}");
        std::fs::create_dir_all("bench/results")?;
        let path = format!("bench/results/{name}.md");
        std::fs::write(&path, self.to_string())?;
        println!("written: {path}");
        let is_met = self.rows.iter().all(|row| row.aim.is_none_or(|aim| row.ratio <= aim));
        anyhow::ensure!(is_met, "an aim is not met");
        Ok(())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| what | measured | against | ratio | aim | met |\n|---|---|---|---|---|---|"
        )?;
        for row in &self.rows {
            let (aim, met) = match row.aim {
                None => ("–".to_owned(), "–"),
                Some(aim) => (format!("≤ {aim}"), if row.ratio <= aim { "yes" } else { "NO" }),
            };
            writeln!(
                f,
                "| {} | {} | {} | {} | {aim} | {met} |",
                row.name,
                row.figure,
                row.against,
                shown(row.ratio)
            )?;
        }
        Ok(())
    }
}

/// A ratio with as many digits as tell it from its aim.
fn shown(ratio: f64) -> String {
    if ratio < 0.1 { format!("{ratio:.3}") } else { format!("{ratio:.2}") }
}
