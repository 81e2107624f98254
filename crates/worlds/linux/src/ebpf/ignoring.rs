//! A program that keeps frames of ignored transmitters from the kernel.

use std::io;
use std::sync::atomic::Ordering;

use wayhop_core::Mac;

use super::bpf::{AttachPoint, AttachedProgram};
use super::program;
use super::shared::WordMap;

/// The program at work. It ends with the file descriptors that hold it.
pub struct IgnoringProgram {
    /// All that may ever be ignored, each with its word in `flags`.
    known: Vec<Mac>,
    /// Not 0: frames of this one end.
    flags: WordMap,
    /// The program at its interface.
    pub attached: AttachedProgram,
}

impl IgnoringProgram {
    /// The most transmitters: the kernel takes no programs of any length, and each packet is compared with all of them.
    pub const MOST: usize = 512;

    /// Attaches it to an interface, for these transmitters, none of them ignored yet. Programs
    /// attached later run after it.
    ///
    /// # Errors
    /// If there are more than [`Self::MOST`], or the kernel does not take the program: it needs Linux 6.6.
    pub fn open(ifindex: u32, known: Vec<Mac>) -> io::Result<Self> {
        if known.len() > Self::MOST {
            return Err(io::Error::from(io::ErrorKind::ArgumentListTooLong));
        }
        let flags = WordMap::new(Self::MOST)?;
        let program = program::ignoring(&known, flags.map());
        let attached = AttachedProgram::open(&program, ifindex, AttachPoint::In)?;
        Ok(Self { known, flags, attached })
    }

    /// Ignores these from now on, and no others. Those that were not named at the beginning cannot be.
    pub fn ignore(&self, ignored: &[Mac]) {
        for (mac, flag) in self.known.iter().zip(self.flags.words()) {
            flag.store(u64::from(ignored.contains(mac)), Ordering::Relaxed);
        }
    }
}
