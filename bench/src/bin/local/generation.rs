//! Generation: the time of a token of a prompt and of an answer, and the memory of the model.

use std::path::Path;
use std::time::Duration;

use roundtable_bench::{Report, Row, cpu, resident};
use roundtable_local::{Generator, Message, Options, Request, SMOLLM2_FILE, Sampling};

use crate::plain::Plain;

/// The weights of SmolLM2-135M: each is used once for a token.
const WEIGHTS: f64 = 134.5e6;
/// A prompt of 430 tokens, give or take a few.
const SENTENCES: usize = 25;
const ANSWER: usize = 64;
const REPEATS: usize = 7;

/// One run: processor time per token, and of the plain loop right before.
struct Run {
    prompt: Duration,
    answer: Duration,
    plain: Duration,
}

/// Measures a generator, and hands it back.
pub fn measure(report: &mut Report, models: &Path, plain: &Plain) -> anyhow::Result<Generator> {
    let path = models.join(SMOLLM2_FILE);
    anyhow::ensure!(
        path.is_file(),
        "no weights at {}; `cargo xtask run` fetches them",
        path.display()
    );
    let file = path.metadata()?.len() as f64;
    let before = resident();
    let generator = Generator::open(&path, &Options { threads: 1, ..Options::default() })?;
    let memory = resident().saturating_sub(before) as f64;
    let runs: Vec<Run> =
        (0..REPEATS).map(|number| run(&generator, plain, number)).collect::<Result<_, _>>()?;
    // Each run is compared with the loop beside it; then the middle one counts.
    let row = |name: &str, time: &dyn Fn(&Run) -> Duration, aim: f64| {
        let ratio = |run: &Run| time(run).as_secs_f64() / run.plain.as_secs_f64().max(1e-9);
        let mut sorted: Vec<&Run> = runs.iter().collect();
        sorted.sort_by(|a, b| ratio(a).total_cmp(&ratio(b)));
        let middle = sorted[sorted.len() / 2];
        Row {
            name: name.to_owned(),
            figure: format!("{:.1} per second of one processor", 1.0 / time(middle).as_secs_f64()),
            against: format!("the plain loop over as many weights, {:.1?}", middle.plain),
            ratio: ratio(middle),
            aim: Some(aim),
        }
    };
    report.add(row("tokens of a prompt of 430", &|run| run.prompt, 0.05));
    report.add(row("tokens of an answer after it", &|run| run.answer, 0.15));
    report.add(Row {
        name: "memory of the model".to_owned(),
        figure: format!("{:.0} MB", memory / 1e6),
        against: format!("its file, {:.0} MB", file / 1e6),
        ratio: memory / file,
        aim: Some(1.5),
    });
    Ok(generator)
}

/// Reads a prompt, then answers it again with the prompt known.
fn run(generator: &Generator, plain: &Plain, number: usize) -> anyhow::Result<Run> {
    let sentence = "The old harbour lay quiet under the morning fog, and the boats rocked gently. ";
    let request = |max_tokens| Request {
        messages: vec![Message::user(sentence.repeat(SENTENCES))],
        // Lively, so that the answer does not end early.
        sampling: Sampling { temperature: 1.0, repeat_penalty: 1.3, ..Sampling::default() },
        max_tokens,
        seed: number as u64,
        session: Some(number.to_string()),
        ..Request::default()
    };
    let plain = plain.time(WEIGHTS);
    let before = cpu();
    let first = generator.start(request(1))?.finish()?;
    let between = cpu();
    let second = generator.start(request(ANSWER))?.finish()?;
    let after = cpu();
    anyhow::ensure!(first.cached_tokens == 0 && second.cached_tokens + 1 == second.prompt_tokens);
    Ok(Run {
        prompt: (between - before) / u32::try_from(first.prompt_tokens)?,
        answer: (after - between) / u32::try_from(second.output_tokens.max(1))?,
        plain,
    })
}
