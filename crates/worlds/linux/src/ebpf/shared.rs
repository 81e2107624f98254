//! Memory that this process shares with programs in the kernel: reading or writing needs no system
//! call, and so no privilege.
#![allow(unsafe_code, reason = "no kept crate maps eBPF arrays; each use says why it is sound")]

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::ptr::{NonNull, null_mut};
use std::slice;
use std::sync::atomic::AtomicU64;

use super::bpf;

/// An array of words of eight octets, all 0 at first.
pub(super) struct WordMap {
    map: OwnedFd,
    memory: NonNull<AtomicU64>,
    words: usize,
}

// SAFETY: the memory is this value's own until it is dropped, and has no ties to a thread.
unsafe impl Send for WordMap {}

impl WordMap {
    pub(super) fn new(words: usize) -> io::Result<Self> {
        let map = bpf::array_to_share(8 * words)?;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping at a place of the kernel's choice touches no memory of this process.
        let memory =
            unsafe { libc::mmap(null_mut(), 8 * words, access, libc::MAP_SHARED, map.as_raw_fd(), 0) };
        let memory = NonNull::new(memory).filter(|m| m.as_ptr() != libc::MAP_FAILED);
        let memory = memory.ok_or_else(io::Error::last_os_error)?.cast();
        Ok(Self { map, memory, words })
    }

    /// The descriptor of the map, for programs.
    pub(super) fn map(&self) -> i32 {
        self.map.as_raw_fd()
    }

    pub(super) fn words(&self) -> &[AtomicU64] {
        // SAFETY: the mapping is aligned to pages, has `self.words` words and lives as long as
        // `self`; the kernel's programs, too, only load and store the words.
        unsafe { slice::from_raw_parts(self.memory.as_ptr(), self.words) }
    }
}

impl Drop for WordMap {
    fn drop(&mut self) {
        // SAFETY: the mapping that `new` made; nothing borrowed from it is left.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), 8 * self.words) };
    }
}
