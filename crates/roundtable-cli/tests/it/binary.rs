//! The binary and a data directory of its own, for one test.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A data directory.
pub struct Home(TempDir);

/// What a run came to.
#[derive(Debug, PartialEq, Eq)]
pub struct Ran {
    pub out: String,
    pub err: String,
    pub code: Option<i32>,
}

impl Ran {
    /// What was printed by a run that went well.
    pub fn ok(self) -> String {
        assert_eq!((self.err.as_str(), self.code), ("", Some(0)), "{}", self.out);
        self.out
    }

    /// What was said by a run that did not.
    pub fn failed(self) -> String {
        assert_eq!((self.out.as_str(), self.code), ("", Some(1)), "{}", self.err);
        self.err
    }

    /// What was said by a run that was told something wrong.
    pub fn refused(self) -> String {
        assert_eq!((self.out.as_str(), self.code), ("", Some(2)), "{}", self.err);
        self.err
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
            code: output.status.code(),
        }
    }
}

impl Home {
    /// An empty one.
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// One with a demonstration that came to its end, and that session's id.
    pub fn with_demo() -> (Self, String) {
        let home = Self::new();
        home.run(&["demo", "--pace", "0", "--answer", "Two of five"]).ok();
        let session = home.session();
        (home, session)
    }

    pub fn path(&self) -> PathBuf {
        self.0.path().join("data")
    }

    /// Writes a file beside the data directory.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// The binary beside the data directory, with these variables and nothing else of the
    /// surroundings. A `roundtable.toml` that the test wrote there is named by the user.
    pub fn command(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Command {
        let mut command = roundtable();
        if self.0.path().join("roundtable.toml").is_file() {
            command.env("ROUNDTABLE_CONFIG", "roundtable.toml");
        }
        command.current_dir(self.0.path()).envs(variables.iter().copied());
        command.args(arguments).arg("--data-dir").arg(self.path());
        command
    }

    /// Runs the binary with these variables to its end.
    pub fn run_with(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Ran {
        finish(self.command(variables, arguments).spawn().unwrap())
    }

    /// Every byte that was written to the disk.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for entry in std::fs::read_dir(self.path()).unwrap() {
            let path = entry.unwrap().path();
            bytes.extend(if path.is_file() { std::fs::read(path).unwrap() } else { Vec::new() });
        }
        bytes
    }

    pub fn database(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.path().join("roundtable.db")).unwrap()
    }

    /// Starts the binary on this directory.
    pub fn start(&self, arguments: &[&str]) -> Child {
        roundtable().args(arguments).arg("--data-dir").arg(self.path()).spawn().unwrap()
    }

    /// Runs the binary on this directory to its end, with nobody at its prompt.
    pub fn run(&self, arguments: &[&str]) -> Ran {
        finish(self.start(arguments))
    }

    /// Runs the binary, whose output is lines of JSON.
    pub fn json(&self, arguments: &[&str]) -> Vec<Value> {
        let out = self.run(&[arguments, &["--json"]].concat()).ok();
        out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// The id of the only session.
    pub fn session(&self) -> String {
        let sessions = self.json(&["sessions"]);
        assert_eq!(sessions.len(), 1, "{sessions:?}");
        sessions[0]["session"].as_str().unwrap().to_owned()
    }

    /// Asks the oracle, which shares no code with the binary.
    pub fn oracle(&self) -> Ran {
        let oracle = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/oracle.py");
        let ran = Command::new("python3").arg(oracle).arg(self.path()).output();
        ran.expect("python3, which these tests need").into()
    }

    /// Both judges find everything in order.
    pub fn assert_sound(&self) {
        let verified = self.run(&["verify"]).ok();
        assert!(verified.contains("no errors"), "{verified}");
        assert!(self.oracle().ok().starts_with("ok: "));
    }
}

/// The binary, with nothing of the surroundings.
pub fn roundtable() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_roundtable"));
    command.env_clear().stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Where the weights are that tests use.
pub fn weights() -> PathBuf {
    let named = std::env::var_os("ROUNDTABLE_MODELS_DIR").map(Into::into);
    let usual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/models");
    let directory: PathBuf = named.unwrap_or(usual);
    assert!(
        directory.join("all-MiniLM-L6-v2/model.safetensors").is_file(),
        "no weights in {}; `cargo xtask test` fetches them",
        directory.display()
    );
    directory
}

/// Waits for a run to end.
pub fn finish(child: Child) -> Ran {
    child.wait_with_output().unwrap().into()
}

/// Reads on until so much has been printed; false when the run ended before.
pub fn read_until(out: &mut impl Read, seen: &mut String, enough: impl Fn(&str) -> bool) -> bool {
    let mut bytes = seen.clone().into_bytes();
    let mut buffer = [0; 256];
    while !enough(&String::from_utf8_lossy(&bytes)) {
        match out.read(&mut buffer).unwrap() {
            0 => {
                *seen = String::from_utf8(bytes).unwrap();
                return false;
            }
            count => bytes.extend_from_slice(&buffer[..count]),
        }
    }
    *seen = String::from_utf8_lossy(&bytes).into_owned();
    true
}

/// Sends a signal.
pub fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// A text in which ids and times are the same in every run.
pub fn steady(text: &str) -> String {
    let prefixes = ["ses_", "ctx_", "trn_", "tcl_", "itr_", "rnd_", "cmd_"];
    let mut out = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let digits = |text: &str| text.chars().take_while(char::is_ascii_hexdigit).count();
        if let Some(id) = prefixes.iter().find(|prefix| rest.starts_with(**prefix))
            && digits(&rest[id.len()..]) >= 20
        {
            out.push_str(id);
            out.push('…');
            rest = &rest[id.len() + digits(&rest[id.len()..])..];
        } else if rest.starts_with("20") && rest.get(4..5) == Some("-") && rest.contains('Z') {
            out.push_str("<time>");
            rest = &rest[rest.find('Z').unwrap() + 1..];
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    out
}
