//! The pairs that passed, in memory that this process shares with the programs in the kernel: to note a pair again and to
//! take all of them out needs no call.
#![allow(unsafe_code, reason = "no kept crate maps eBPF arrays; each use says why it is sound")]

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::ptr::{NonNull, null_mut};
use std::slice;
use std::sync::atomic::{AtomicU64, Ordering};

use wayhop_core::Mac;

use super::bpf;

/// Pairs have one of two slots in one of so many sets; when both are taken, the second gives way.
pub(super) const SETS: usize = 2048;
/// Octets of a slot: source and destination, which are 0 while it is free, and the transmitter.
pub(super) const SLOT: usize = 16;
const SLOTS: usize = 2 * SETS;
const LENGTH: usize = SLOTS * SLOT;

/// A pair that passed since the last look.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Passed {
    /// Who made the packets.
    pub source: Ipv4Addr,
    /// For whom they are.
    pub destination: Ipv4Addr,
    /// Who sent it to this node; this node for its own packets.
    pub transmitter: Mac,
}

/// The table, and the map that holds it.
pub(super) struct Table {
    map: OwnedFd,
    memory: NonNull<[AtomicU64; 2]>,
}

// SAFETY: the memory is this value's own until it is dropped, and has no ties to a thread.
unsafe impl Send for Table {}

impl Table {
    pub(super) fn new() -> io::Result<Self> {
        let map = bpf::array_to_share(LENGTH)?;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping at a place of the kernel's choice touches no memory of this process.
        let memory = unsafe { libc::mmap(null_mut(), LENGTH, access, libc::MAP_SHARED, map.as_raw_fd(), 0) };
        let memory = NonNull::new(memory).filter(|m| m.as_ptr() != libc::MAP_FAILED);
        let memory = memory.ok_or_else(io::Error::last_os_error)?.cast();
        Ok(Self { map, memory })
    }

    pub(super) fn map(&self) -> i32 {
        self.map.as_raw_fd()
    }

    /// Takes out what is noted.
    pub(super) fn take(&self) -> impl Iterator<Item = Passed> + '_ {
        // SAFETY: the mapping is aligned to pages, has `SLOTS` such slots and lives as long as `self`; the kernel's programs,
        // too, only load and store the words.
        let slots = unsafe { slice::from_raw_parts(self.memory.as_ptr(), SLOTS) };
        slots.iter().filter_map(|[pair, transmitter]| {
            if pair.load(Ordering::Relaxed) == 0 {
                return None;
            }
            // A packet that passes meanwhile may change the transmitter to that of the pair after this one. Both have just
            // sent something, and that is all that is made of it.
            let pair = pair.swap(0, Ordering::Acquire);
            let transmitter = transmitter.load(Ordering::Relaxed);
            let address = |half: u64| Ipv4Addr::from((half as u32).to_ne_bytes());
            let [a, b, c, d] = (transmitter as u32).to_ne_bytes();
            let [e, f] = ((transmitter >> 32) as u16).to_ne_bytes();
            Some(Passed {
                source: address(pair),
                destination: address(pair >> 32),
                transmitter: Mac([a, b, c, d, e, f]),
            })
        })
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        // SAFETY: the mapping that `new` made; nothing borrowed from it is left.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), LENGTH) };
    }
}
