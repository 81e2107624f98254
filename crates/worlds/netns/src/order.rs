//! Commands to the programs that set up a network, such as `ip` and `nft`.

use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use crate::namespace::Namespace;

/// Gives a program, which reads orders from its standard input, these orders inside of a namespace.
pub fn order(namespace: &Namespace, program: &str, arguments: &[&str], orders: &str) -> io::Result<()> {
    let mut child = namespace.within(|| {
        Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            // Ctrl-C at a terminal is for this process; an order that was begun is carried out.
            .process_group(0)
            .spawn()
    })?;
    if let Some(mut to) = child.stdin.take() {
        to.write_all(orders.as_bytes())?;
    }
    let done = child.wait_with_output()?;
    if done.status.success() {
        return Ok(());
    }
    Err(io::Error::other(String::from_utf8_lossy(&done.stderr).trim().to_owned()))
}
