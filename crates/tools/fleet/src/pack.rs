//! Reduces what is sent: strips symbols, and compresses files.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use flate2::Compression;
use flate2::write::GzEncoder;

/// Programs that strip symbols, from binutils, LLVM and elfutils. All take the same arguments.
const STRIPPERS: [&str; 3] = ["strip", "llvm-strip", "eu-strip"];
/// Shorter files are sent uncompressed.
const WORTH: u64 = 4096;

/// A copy of a program without symbols; `None` if it has none, or no strip program is installed.
pub(crate) fn stripped(program: &Path, folder: &Path) -> Option<PathBuf> {
    let to = folder.join("wayhop");
    let made = STRIPPERS.iter().any(|strip| {
        let mut command = Command::new(strip);
        command.arg("-o").arg(&to).arg(program);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|s| s.success())
    });
    let len = |p: &Path| p.metadata().map_or(u64::MAX, |m| m.len());
    (made && len(&to) < len(program)).then_some(to)
}

/// A compressed copy of a file in a folder, and its size; `None` if that is not smaller.
pub(crate) fn gzipped(file: &Path, folder: &Path, name: &str) -> io::Result<Option<(PathBuf, u64)>> {
    let bytes = file.metadata()?.len();
    if bytes < WORTH {
        return Ok(None);
    }
    let to = folder.join(name);
    let mut packer = GzEncoder::new(File::create(&to)?, Compression::default());
    io::copy(&mut File::open(file)?, &mut packer)?;
    let packed = packer.finish()?.metadata()?.len();
    Ok((packed < bytes).then_some((to, packed)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_gets_no_shorter_is_not_packed_and_gzip_unpacks_the_rest() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "short").unwrap();
        assert_eq!(gzipped(&file, folder.path(), "0.gz").unwrap(), None);
        // xorshift32 (Marsaglia 2003).
        let mut x = 1_u32;
        let mut next = || {
            x ^= x << 13;
            x ^= x >> 17;
            x ^= x << 5;
            x as u8
        };
        let noise: Vec<u8> = (0..9_000).map(|_| next()).collect();
        std::fs::write(&file, &noise).unwrap();
        assert_eq!(gzipped(&file, folder.path(), "0.gz").unwrap(), None);
        let text = "at 0 node 1 ignores nobody\n".repeat(1_000);
        std::fs::write(&file, &text).unwrap();
        let (packed, bytes) = gzipped(&file, folder.path(), "1.gz").unwrap().unwrap();
        assert!(bytes < text.len() as u64 / 10);
        let said = Command::new("gzip").arg("-dc").arg(packed).output().unwrap();
        assert_eq!(said.stdout, text.as_bytes());
    }

    #[test]
    fn what_is_no_program_is_not_stripped() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("script");
        std::fs::write(&file, "#!/bin/sh\n").unwrap();
        assert_eq!(stripped(&file, folder.path()), None);
    }
}
