//! The fenced blocks of a document.

/// A fenced block.
#[derive(Debug, Clone)]
pub struct Block {
    /// The line of its fence.
    pub line: usize,
    /// The first word of its info string.
    pub language: String,
    /// What follows that word: the name of a file, or a reason in parentheses.
    pub info: String,
    pub text: String,
}

/// A command and the output that the document shows.
pub struct Step {
    pub command: String,
    pub output: String,
}

impl Block {
    /// The commands of a console block. A command goes on over lines that end with a backslash.
    pub fn steps(&self) -> Vec<Step> {
        let mut steps: Vec<Step> = Vec::new();
        let mut continues = false;
        for line in self.text.lines() {
            if continues {
                let step = steps.last_mut().unwrap();
                step.command.push('\n');
                step.command.push_str(line);
                continues = line.ends_with('\\');
            } else if let Some(command) = line.strip_prefix("$ ") {
                steps.push(Step { command: command.to_owned(), output: String::new() });
                continues = line.ends_with('\\');
            } else {
                let step = steps.last_mut().expect("a console block begins with a command");
                step.output.push_str(line);
                step.output.push('\n');
            }
        }
        steps
    }
}

pub fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (index, line) in text.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(block), None) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, Some(info)) => {
                let (language, info) = info.split_once(' ').unwrap_or((info, ""));
                let (language, info) = (language.to_owned(), info.to_owned());
                open = Some(Block { line: index + 1, language, info, text: String::new() });
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block without an end: {open:?}");
    blocks
}
