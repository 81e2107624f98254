//! What is typed at a terminal while an emulation runs. The terminal is that of `script` (Debian's bsdutils).

use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};

use crate::emulate::{CHAIN, skip_without_root};
use crate::folder;

/// Types at a terminal at which a command runs in a node, once the command has begun and has the terminal. Returns the exit
/// status and what was seen.
fn at_terminal(begin: &str, command: &str, typed: &[u8]) -> (Option<i32>, String) {
    // proc_pid_stat(5): the fifth field is the process's group, the eighth the one that has the terminal. A hundred looks.
    let wait = "for i in $(seq 100); do read -r _ _ _ _ own _ _ terminal _ </proc/$$/stat; \
                [ $own = $terminal ] && break; sleep 0.1; done; echo ready";
    let dir = folder(&[("s.toml", CHAIN)]);
    let line = format!(
        "{} emulate s.toml --no-out --quiet --node 0 -- sh -c '{begin}; {wait}; {command}'",
        env!("CARGO_BIN_EXE_wayhop")
    );
    let mut script = Command::new("timeout")
        .args(["60", "script", "--quiet", "--return", "--command", &line, "/dev/null"])
        .current_dir(dir.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("script runs");
    let (mut to, mut from) = (script.stdin.take().expect("piped"), script.stdout.take().expect("piped"));
    let mut seen = Vec::new();
    let mut octet = [0];
    while !String::from_utf8_lossy(&seen).contains("ready") && from.read(&mut octet).expect("output") == 1 {
        seen.push(octet[0]);
    }
    to.write_all(typed).expect("it is typed");
    from.read_to_end(&mut seen).expect("output");
    let status = script.wait().expect("it ends").code();
    (status, String::from_utf8_lossy(&seen).into_owned())
}

#[test]
fn a_command_in_a_node_reads_what_is_typed() {
    skip_without_root!();
    let (status, seen) = at_terminal(":", "read word; echo got $word; exit 5", b"hello\n");
    assert!(seen.contains("got hello"), "{seen}");
    assert_eq!(status, Some(5), "{seen}");
}

#[test]
fn ctrl_c_is_for_the_command_in_the_node_and_the_run_ends_as_that_does() {
    skip_without_root!();
    let (status, seen) =
        at_terminal("trap \"echo caught; exit 9\" INT", "while :; do sleep 0.05; done", b"\x03");
    assert!(seen.contains("caught"), "{seen}");
    assert_eq!(status, Some(9), "{seen}");
}

#[test]
fn a_command_in_a_node_cannot_be_suspended_where_no_shell_would_continue_it() {
    skip_without_root!();
    // The line after Ctrl-Z is read by a command that goes on.
    let (status, seen) = at_terminal(":", "read word; echo got $word; exit 6", b"\x1ahello\n");
    assert!(seen.contains("got hello"), "{seen}");
    assert_eq!(status, Some(6), "{seen}");
}
