//! Random numbers of the kernel.

use std::fs::File;
use std::io::Read as _;

/// One.
pub(crate) fn random_seed() -> std::io::Result<u64> {
    let mut bytes = [0; 8];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}
