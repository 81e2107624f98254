//! Files that are written completely or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use crate::failure::Failure;

/// Writes a file, and removes it if it cannot be completed, as on a full disk.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let file = File::create(path).map_err(Failure::write(path))?;
    fill(file, path, bytes).map_err(Failure::write(path))
}

fn fill(mut file: impl Write, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let written = file.write_all(bytes);
    if written.is_err() && path.is_file() {
        // The first error is the one to tell.
        let _ = fs::remove_file(path);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk with room for this number of bytes.
    struct Disk(File, usize);

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.1 == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            let written = self.0.write(&bytes[..bytes.len().min(self.1)])?;
            self.1 -= written;
            Ok(written)
        }
        fn flush(&mut self) -> io::Result<()> {
            self.0.flush()
        }
    }

    #[test]
    fn what_a_full_disk_cut_does_not_stay() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f.csv");
        let on = |room| fill(Disk(File::create(&path).unwrap(), room), &path, b"1,2,3\n");
        assert!(on(6).is_ok() && path.exists());
        assert_eq!(on(4).unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert!(!path.exists(), "four octets of six");
    }
}
