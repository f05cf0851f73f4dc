//! Many exports at once: the server's memory stays bounded.

use std::io::Read as _;
use std::process::Child;

use serde_json::Value;

use crate::binary::{Home, finish, signal};
use crate::serve::{asked, serve};

/// How much memory a process had at most, in bytes.
fn peak(child: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

/// A home with a debate whose export has about twelve megabytes.
fn with_large_debate() -> (Home, String) {
    let home = Home::new();
    home.run(&["debate", "Trams?", "--rounds", "2"]);
    let session = home.session();
    let mut file: Value =
        serde_json::from_str(&home.run(&["export", &session, "--json"]).ok()).unwrap();
    let turns = 8;
    let words = "Trams carry crowds, and they do so every day. ".repeat(12_000_000 / 46 / turns);
    for round in file["rounds"].as_array_mut().unwrap() {
        for turn in round["turns"].as_array_mut().unwrap() {
            turn["text"] = Value::from(words.as_str());
        }
    }
    let path = home.write("large.json", &file.to_string());
    let home = Home::new();
    home.run(&["import", path.to_str().unwrap()]).ok();
    let session = home.session();
    (home, session)
}

/// Reads an answer to its end and says how long it was.
fn drained(url: &str, path: &str) -> usize {
    let mut stream = asked(url, path, None);
    let (mut piece, mut length) = (vec![0; 64 * 1024], 0);
    loop {
        match stream.read(&mut piece).unwrap() {
            0 => return length,
            read => length += read,
        }
    }
}

/// Several exports at once: how long each was.
fn exports(url: &str, path: &str, count: usize) -> Vec<usize> {
    std::thread::scope(|scope| {
        let reading: Vec<_> = (0..count).map(|_| scope.spawn(|| drained(url, path))).collect();
        reading.into_iter().map(|it| it.join().unwrap()).collect()
    })
}

#[test]
#[cfg(target_os = "linux")]
#[ignore = "minutes in a debug build: cargo nextest run -p roundtable-cli --release --run-ignored only exports::"]
fn thirty_two_exports_of_twelve_megabytes_stay_below_300_megabytes() {
    let (home, session) = with_large_debate();
    let (child, url) = serve(&home, &[]);
    let path = |format: &str| format!("/api/debates/{session}/export?format={format}");
    let mut lengths = exports(&url, &path("json"), 32);
    // Two have a place at once, so four show what more would.
    lengths.extend(exports(&url, &path("markdown"), 4));
    let peak = peak(&child);
    signal(&child, "-TERM");
    assert_eq!(finish(child).code, Some(0));
    assert!(lengths.iter().all(|length| *length > 11_000_000), "{lengths:?}");
    assert!(peak < 300_000_000, "{peak} bytes");
}
