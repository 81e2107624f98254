//! The Wireshark command line as an oracle.

use std::path::Path;
use std::process::Command;

/// Runs tshark on a capture and returns one row a packet that passes the display filter (`""` = all), with the values
/// of the fields asked for. A field that occurs several times in a packet is one string, joined by commas.
///
/// # Errors
/// Says what to install when there is no tshark, and else gives tshark's own message.
pub fn fields(capture: &Path, filter: &str, fields: &[&str]) -> Result<Vec<Vec<String>>, String> {
    let mut cmd = Command::new("tshark");
    // Checksums are checked, and a wrong one is an error: nothing here leaves them to hardware.
    cmd.args(["-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE"]);
    cmd.args(["-o", "tcp.check_checksum:TRUE"]);
    cmd.arg("-n").arg("-r").arg(capture).args(["-T", "fields", "-E", "separator=/t", "-E", "occurrence=a"]);
    if !filter.is_empty() {
        cmd.args(["-Y", filter]);
    }
    for f in fields {
        cmd.args(["-e", f]);
    }
    let out = cmd.output().map_err(|e| {
        format!("cannot run tshark ({e}); it is the oracle of this test: apt-get install tshark")
    })?;
    if !out.status.success() {
        return Err(format!("tshark on {}: {}", capture.display(), String::from_utf8_lossy(&out.stderr)));
    }
    Ok(String::from_utf8_lossy(&out.stdout)
        .lines()
        .map(|line| line.split('\t').map(str::to_owned).collect())
        .collect())
}

/// The packets that tshark calls malformed or marks with an expert error: (frame number, message). A clean capture
/// gives none.
///
/// # Errors
/// As [`fields`].
pub fn complaints(capture: &Path) -> Result<Vec<Vec<String>>, String> {
    fields(
        capture,
        "_ws.malformed || _ws.expert.severity == error",
        &["frame.number", "_ws.expert.message", "_ws.col.Info"],
    )
}
