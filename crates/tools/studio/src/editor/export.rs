//! A text that is not saved yet, in other programs' formats.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use serde::Deserialize;
use wayhop_scenario::{Scenario, export_ns2_movement, export_ns2_traffic};
use wayhop_simulator_files::ns2::ExportOptions;

/// The longest answer, octets.
const MAX_ANSWER: u64 = 64 << 20;
const TOO_LONG: &str = "the export is larger than 64 MiB; use: wayhop export macfilter SCENARIO --out FILE";
/// The longest complaint, octets.
const MAX_COMPLAINT: u64 = 64 << 10;

#[derive(Copy, Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Format {
    /// `setdest`'s.
    Ns2Movement,
    /// `cbrgen`'s.
    Ns2Traffic,
    Macfilter,
}

pub(crate) fn export(
    program: &Path,
    file: &Path,
    text: String,
    format: Format,
) -> Result<(String, Vec<String>), String> {
    if matches!(format, Format::Macfilter) {
        return Ok((macfilter(program, file, &text)?, Vec::new()));
    }
    let resolved = Scenario::of_file(file, text, &[]).and_then(|s| s.resolve()).map_err(|e| e.to_string())?;
    let exported = match format {
        Format::Ns2Traffic => export_ns2_traffic(&resolved),
        _ => export_ns2_movement(&resolved, ExportOptions { god: true }),
    };
    exported.map_err(|e| e.to_string())
}

/// By the command, whose lab knows the format.
fn macfilter(program: &Path, file: &Path, text: &str) -> Result<String, String> {
    let cannot = |e: std::io::Error| format!("{}: cannot export: {e}", program.display());
    let folder = file.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut child = Command::new(program)
        .args(["export", "macfilter", "-"])
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(cannot)?;
    // Both are read at a time: a command with much to say waits for a reader of each.
    let complaints = child.stderr.take().map(|from| std::thread::spawn(move || read(from, MAX_COMPLAINT)));
    if let Some(mut to) = child.stdin.take() {
        // The command reads all before it writes; one that ends early says why on standard error.
        let _ = to.write_all(text.as_bytes());
    }
    let answer = child.stdout.take().map_or_else(|| Ok(String::new()), |from| read(from, MAX_ANSWER));
    let status = child.wait().map_err(cannot)?;
    if status.success() {
        let whole = |text: &String| (text.len() as u64) < MAX_ANSWER;
        return answer.map_err(cannot).and_then(|t| if whole(&t) { Ok(t) } else { Err(TOO_LONG.to_owned()) });
    }
    let why = complaints.and_then(|t| t.join().ok()).and_then(Result::ok).unwrap_or_default();
    Err(if why.is_empty() { format!("the export ended with {status}") } else { why.trim().to_owned() })
}

/// The first octets of what a command says; it may say more.
fn read(mut from: impl std::io::Read, most: u64) -> std::io::Result<String> {
    let mut octets = Vec::new();
    from.by_ref().take(most).read_to_end(&mut octets)?;
    std::io::copy(&mut from, &mut std::io::sink())?;
    String::from_utf8(octets).map_err(std::io::Error::other)
}
