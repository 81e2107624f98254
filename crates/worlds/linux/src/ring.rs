//! Frames from a packet socket in memory that this process shares with the kernel (packet_mmap, version 2):
//! the kernel copies each frame there with its time, and reading it needs no system call.
#![allow(unsafe_code, reason = "no kept crate maps packet sockets; each use says why it is sound")]

use std::io;
use std::mem::{offset_of, size_of};
use std::os::fd::{AsRawFd as _, BorrowedFd};
use std::ptr::{NonNull, null_mut};
use std::slice;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use crate::syscalls::{self, ReceivedFrame};

/// Room for all frames, octets.
const ROOM: usize = 4 << 20;
/// The kernel allocates the memory in blocks of at least this many bytes.
const BLOCK: usize = 64 << 10;
/// What is before the IP header in a frame's slot at most: the kernel's description of the frame, and the link header.
const BEFORE: usize = 128;

/// The shared memory: slots of equal size, which the kernel fills one after the other.
pub(crate) struct Ring {
    memory: NonNull<u8>,
    slot: usize,
    slots: usize,
    /// The slot of the next frame.
    next: usize,
}

// SAFETY: the memory is this value's own until it is dropped, and has no ties to a thread.
unsafe impl Send for Ring {}

impl Ring {
    /// Has a packet socket, which is not bound yet, receive frames of up to `longest` octets by such memory.
    pub(crate) fn new(fd: BorrowedFd<'_>, longest: usize) -> io::Result<Self> {
        let slot = (BEFORE + longest).next_power_of_two();
        let block = slot.max(BLOCK);
        let request = libc::tpacket_req {
            tp_block_size: block as u32,
            tp_block_nr: (ROOM / block) as u32,
            tp_frame_size: slot as u32,
            tp_frame_nr: (ROOM / slot) as u32,
        };
        let version = libc::tpacket_versions::TPACKET_V2 as libc::c_int;
        syscalls::set_option(fd, libc::SOL_PACKET, libc::PACKET_VERSION, &version)?;
        syscalls::set_option(fd, libc::SOL_PACKET, libc::PACKET_RX_RING, &request)?;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping at a place of the kernel's choice touches no memory of this process.
        let memory = unsafe { libc::mmap(null_mut(), ROOM, access, libc::MAP_SHARED, fd.as_raw_fd(), 0) };
        let memory = NonNull::new(memory.cast::<u8>()).filter(|m| m.as_ptr().cast() != libc::MAP_FAILED);
        let memory = memory.ok_or_else(io::Error::last_os_error)?;
        Ok(Self { memory, slot, slots: ROOM / slot, next: 0 })
    }

    /// The frames that wait, `most` at most.
    pub(crate) fn waiting(&self, most: usize) -> usize {
        (0..most.min(self.slots)).take_while(|i| self.status(*i) & libc::TP_STATUS_USER != 0).count()
    }

    /// A waiting frame, counted from the head; empty if it was longer than a slot, or there is none.
    pub(crate) fn frame(&self, i: usize) -> ReceivedFrame<'_> {
        let mut frame = ReceivedFrame { bytes: &[], for_other: false, own: false };
        if self.status(i) & libc::TP_STATUS_USER == 0 {
            return frame;
        }
        let (header, address) = self.descriptions(i);
        let (at, len) = (usize::from(header.tp_mac), header.tp_snaplen as usize);
        let inside = at.checked_add(len).is_some_and(|end| end <= self.slot);
        if inside && header.tp_snaplen == header.tp_len {
            // SAFETY: it lies within the slot, which the kernel leaves alone until `release`, which `&self` forbids.
            frame.bytes = unsafe { slice::from_raw_parts(self.start(i).add(at).as_ptr(), len) };
        }
        frame.for_other = address.sll_pkttype == libc::PACKET_OTHERHOST;
        frame.own = address.sll_pkttype == libc::PACKET_OUTGOING;
        frame
    }

    /// When the interface had a waiting frame, counted from the head.
    pub(crate) fn arrival(&self, i: usize) -> Option<SystemTime> {
        if self.status(i) & libc::TP_STATUS_USER == 0 {
            return None;
        }
        let (header, _) = self.descriptions(i);
        let since = Duration::new(header.tp_sec.into(), header.tp_nsec);
        SystemTime::UNIX_EPOCH.checked_add(since)
    }

    /// Gives the first `n` waiting frames back to the kernel.
    pub(crate) fn release(&mut self, n: usize) {
        for i in 0..n {
            self.status_word(i).store(libc::TP_STATUS_KERNEL, Ordering::Release);
        }
        self.next = (self.next + n) % self.slots;
    }

    /// Where the slot of a frame begins.
    fn start(&self, i: usize) -> NonNull<u8> {
        let at = (self.next + i) % self.slots * self.slot;
        // SAFETY: `at` is less than `ROOM`, the length of the mapping.
        unsafe { self.memory.add(at) }
    }

    fn status_word(&self, i: usize) -> &AtomicU32 {
        let at = offset_of!(libc::tpacket2_hdr, tp_status);
        // SAFETY: a word inside the slot, aligned as the slot is; the kernel, too, only loads and stores it.
        unsafe { AtomicU32::from_ptr(self.start(i).add(at).cast().as_ptr()) }
    }

    fn status(&self, i: usize) -> u32 {
        self.status_word(i).load(Ordering::Acquire)
    }

    /// What the kernel says of a frame that it has handed over.
    fn descriptions(&self, i: usize) -> (libc::tpacket2_hdr, libc::sockaddr_ll) {
        // TPACKET_ALIGN of linux/if_packet.h.
        let address_at = size_of::<libc::tpacket2_hdr>().next_multiple_of(16);
        let start = self.start(i);
        // SAFETY: both lie at the start of the slot, in this order, and hold plain integers.
        unsafe { (start.cast().read(), start.add(address_at).cast().read()) }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping that `new` made; nothing borrowed from it is left.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), ROOM) };
    }
}

#[cfg(test)]
#[path = "ring_tests.rs"]
mod tests;
