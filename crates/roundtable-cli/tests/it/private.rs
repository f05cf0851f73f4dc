//! What is written is its owner's alone, whatever the umask is and whatever existed.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::binary::{Home, finish, roundtable, signal};
use crate::serve::serve;

/// Every file and directory below a directory with its permissions, by name.
fn modes(directory: &Path) -> Vec<(String, u32)> {
    fn walk(path: &Path, found: &mut Vec<PathBuf>) {
        found.push(path.to_owned());
        for entry in std::fs::read_dir(path).into_iter().flatten() {
            walk(&entry.unwrap().path(), found);
        }
    }
    let mut found = Vec::new();
    walk(directory, &mut found);
    let named = |path: &PathBuf| {
        let name = path.strip_prefix(directory).unwrap().display().to_string();
        let name = if name.ends_with(".lock") { "nodes/LOCK".to_owned() } else { name };
        (name, std::fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777)
    };
    let mut modes: Vec<(String, u32)> = found.iter().map(named).collect();
    modes.sort();
    modes
}

fn private(names: &[&str]) -> Vec<(String, u32)> {
    let mode = |name: &str| if ["", "nodes"].contains(&name) { 0o700 } else { 0o600 };
    names.iter().map(|name| ((*name).to_owned(), mode(name))).collect()
}

const RUNNING: [&str; 6] =
    ["", "nodes", "nodes/LOCK", "roundtable.db", "roundtable.db-shm", "roundtable.db-wal"];

#[test]
fn a_data_directory_is_private_while_it_is_used_whatever_the_umask_is() {
    let home = Home::new();
    let mut child = Command::new("sh");
    let program = roundtable();
    child.args(["-c", "umask 000; exec \"$0\" serve --listen 127.0.0.1:0 --data-dir \"$1\""]);
    child.arg(program.get_program()).arg(home.path()).env_clear();
    let mut child = child.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let out = child.stdout.as_mut().unwrap();
    assert!(crate::binary::read_until(out, &mut line, |line| line.ends_with('\n')));
    assert_eq!(modes(&home.path()), private(&RUNNING));
    signal(&child, "-TERM");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn what_existed_is_tightened_and_whoever_runs_the_command_is_told() {
    let home = Home::new();
    home.run(&["ask", "What is up?"]);
    for (path, mode) in [("", 0o755), ("roundtable.db", 0o644), ("nodes", 0o755)] {
        let path = home.path().join(path);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let (child, _) = serve(&home, &[]);
    assert_eq!(modes(&home.path()), private(&RUNNING));
    signal(&child, "-TERM");
    let data = home.path().display().to_string();
    let told = finish(child).err;
    let told = told.replace(&data, "DATA");
    assert_eq!(
        told,
        "note: DATA was accessible to other users; its permissions were changed from 0755 to 0700\n\
         note: DATA/roundtable.db was accessible to other users; its permissions were changed from 0644 to 0600\n\
         note: DATA/nodes was accessible to other users; its permissions were changed from 0755 to 0700\n"
    );
}

#[test]
fn install_writes_through_no_link_and_no_name_that_can_be_foreseen() {
    let home = Home::new();
    let victim = home.write("victim", "precious");
    let install = || home.run_with(&[], &["mcp", "install", "--client", "claude-code"]);
    let directory = victim.parent().unwrap();
    for name in [".mcp.json.new", ".mcp.new", ".mcp.json.tmp"] {
        symlink(&victim, directory.join(name)).unwrap();
    }
    assert_eq!(install().code, Some(0));
    let settings = directory.join(".mcp.json");
    assert!(std::fs::symlink_metadata(&settings).unwrap().is_file());
    let written = std::fs::read_to_string(&settings).unwrap();
    assert!(written.contains("\"mcpServers\""), "{written}");
    std::fs::remove_file(&settings).unwrap();
    symlink(&victim, &settings).unwrap();
    let told = install().failed();
    assert!(told.contains(".mcp.json is a symbolic link"), "{told}");
    assert!(told.contains("add this under \"mcpServers\" by hand: \"roundtable\": {"), "{told}");
    // A directory on the way is no better.
    symlink(directory.join("elsewhere"), directory.join(".vscode")).unwrap();
    std::fs::create_dir(directory.join("elsewhere")).unwrap();
    let told = home.run_with(&[], &["mcp", "install", "--client", "vscode"]).failed();
    assert!(told.contains(".vscode is a symbolic link"), "{told}");
    assert_eq!(std::fs::read_dir(directory.join("elsewhere")).unwrap().count(), 0);
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "precious");
}
