//! Other programs, whose failure is one of this.

use std::process::{Command, Stdio};

pub(crate) fn run(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|e| format!("{}: {e}", name(command)))?;
    if status.success() { Ok(()) } else { Err(format!("{} failed: {status}", name(command))) }
}

/// Runs a command and returns what it prints, without the last line end.
pub(crate) fn output(command: &mut Command) -> Result<String, String> {
    let done = command.stderr(Stdio::inherit()).output().map_err(|e| format!("{}: {e}", name(command)))?;
    if !done.status.success() {
        return Err(format!("{} failed: {}", name(command), done.status));
    }
    let text = String::from_utf8(done.stdout).map_err(|e| format!("{}: {e}", name(command)))?;
    Ok(text.trim_end().to_owned())
}

/// Cargo, the one that runs this if cargo does.
pub(crate) fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

fn name(command: &Command) -> String {
    command.get_program().to_string_lossy().into_owned()
}
