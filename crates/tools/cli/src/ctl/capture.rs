//! `wayhop ctl capture`: from the control socket to a file or a program, block by block.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, ErrorKind, IsTerminal as _, Write as _, stdout};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::failure::{Failure, output, usage};

/// The longest block that is read: a frame of 64 KiB with what belongs to it.
const LONGEST_BLOCK: usize = 1 << 20;
/// A pcapng Section Header Block, with which a capture begins.
const SECTION_HEADER: u32 = 0x0a0d_0d0a;
/// A pcapng Enhanced Packet Block: a frame.
const ENHANCED_PACKET: u32 = 6;

/// Refuses a terminal.
pub(super) fn check(file: Option<&Path>) -> Result<(), Failure> {
    if file.is_none() && stdout().is_terminal() {
        return Err(usage!(
            "cannot write a capture to a terminal: give --out FILE, or pipe it into a program: `wayhop ctl \
             capture | wireshark -k -i -`"
        ));
    }
    Ok(())
}

/// Where the capture goes: this file or, without one, standard output.
pub(super) fn open(file: Option<&Path>) -> Result<File, Failure> {
    match file {
        Some(path) => File::create(path).map_err(Failure::write(path)),
        None => stdout().as_fd().try_clone_to_owned().map(File::from).map_err(Failure::run),
    }
}

/// Copies whole blocks until the node ends, `count` frames came, it is as late as `until`, or nobody reads any more.
pub(super) fn copy(
    mut from: BufReader<UnixStream>,
    mut to: File,
    count: Option<u64>,
    until: Option<Instant>,
) -> Result<(), Failure> {
    let mut blocks = Blocks { waiting: Vec::new(), begun: false, left: count };
    loop {
        if from.buffer().is_empty() && !is_ready(&from, &to, until).map_err(Failure::run)? {
            return Ok(());
        }
        let octets = match from.fill_buf() {
            Ok([]) => return Ok(()),
            Ok(octets) => octets,
            Err(e) if e.kind() == ErrorKind::Interrupted => continue,
            // A node that is killed may reset the connection.
            Err(e) if e.kind() == ErrorKind::ConnectionReset => return Ok(()),
            Err(e) => return Err(Failure::run(format!("the capture was interrupted: {e}"))),
        };
        let n = octets.len();
        blocks.waiting.extend_from_slice(octets);
        from.consume(n);
        let whole = blocks.whole()?;
        match to.write_all(&blocks.waiting[..whole]) {
            Err(e) if e.kind() == ErrorKind::BrokenPipe => return Ok(()),
            written => output(written)?,
        }
        if blocks.left == Some(0) {
            return Ok(());
        }
        blocks.waiting.drain(..whole);
    }
}

/// Waits for octets. False if the time is over, or nobody reads what would come.
fn is_ready(from: &BufReader<UnixStream>, to: &File, until: Option<Instant>) -> io::Result<bool> {
    loop {
        let left = until.map(|at| at.saturating_duration_since(Instant::now()));
        if left.is_some_and(|l| l.is_zero()) {
            return Ok(false);
        }
        // What is longer than a clock can say is for ever.
        let timeout = left.and_then(|l| Timespec::try_from(l).ok());
        // Without events to wait for, poll still reports an error when a pipe's reader has gone.
        let mut fds = [
            PollFd::from_borrowed_fd(from.get_ref().as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(to.as_fd(), PollFlags::empty()),
        ];
        match poll(&mut fds, timeout.as_ref()) {
            Err(rustix::io::Errno::INTR) => continue,
            polled => polled?,
        };
        if !fds[1].revents().is_empty() {
            return Ok(false);
        }
        if !fds[0].revents().is_empty() {
            return Ok(true);
        }
    }
}

/// What came, and how much more may.
struct Blocks {
    waiting: Vec<u8>,
    /// The first block has been seen.
    begun: bool,
    /// How many frames may still come, if that is bounded.
    left: Option<u64>,
}

impl Blocks {
    /// How many of the waiting bytes are complete, requested blocks.
    fn whole(&mut self) -> Result<usize, Failure> {
        let mut end = 0;
        while self.left != Some(0)
            && let Some((head, _)) = self.waiting[end..].split_first_chunk::<8>()
        {
            let [kind, len] = [[head[0], head[1], head[2], head[3]], [head[4], head[5], head[6], head[7]]]
                .map(u32::from_le_bytes);
            let len = len as usize;
            let is_block = (12..=LONGEST_BLOCK).contains(&len) && len.is_multiple_of(4);
            if !is_block || !self.begun && kind != SECTION_HEADER {
                return Err(Failure::run(
                    "the answer is not pcapng: does the socket belong to another program, or another \
                     version of Wayhop?",
                ));
            }
            if self.waiting.len() - end < len {
                break;
            }
            self.begun = true;
            if kind == ENHANCED_PACKET {
                self.left = self.left.map(|left| left - 1);
            }
            end += len;
        }
        Ok(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(kind: u32, len: usize) -> Vec<u8> {
        let mut block = vec![0; len];
        block[..4].copy_from_slice(&kind.to_le_bytes());
        block[4..8].copy_from_slice(&(len as u32).to_le_bytes());
        block
    }

    #[test]
    fn only_whole_blocks_go_on_and_no_more_frames_than_asked_for() {
        let [section, interface, frame, statistics] =
            [(SECTION_HEADER, 28), (1, 20), (ENHANCED_PACKET, 40), (5, 24)].map(|(k, n)| block(k, n));
        let all = [section, interface, frame.clone(), statistics, frame.clone(), frame].concat();
        let ends = [0, 28, 48, 88, 112, 152, 192];
        for n in 0..=all.len() {
            let mut blocks = Blocks { waiting: all[..n].to_vec(), begun: false, left: None };
            let most = ends.iter().rfind(|e| **e <= n).copied();
            assert_eq!(blocks.whole().ok(), most, "{n} octets");
        }
        for (count, end) in [(1, 88), (2, 152), (3, 192), (4, 192)] {
            let mut blocks = Blocks { waiting: all.clone(), begun: false, left: Some(count) };
            assert_eq!(blocks.whole().ok(), Some(end), "{count} frames");
        }
    }

    #[test]
    fn what_is_no_pcapng_is_refused_before_it_fills_the_memory() {
        for bad in [
            block(ENHANCED_PACKET, 40),
            [SECTION_HEADER.to_le_bytes(), 8_u32.to_le_bytes()].concat(),
            [SECTION_HEADER.to_le_bytes(), 30_u32.to_le_bytes()].concat(),
            [SECTION_HEADER.to_le_bytes(), u32::MAX.to_le_bytes()].concat(),
            b"{\"id\":1,\"event\":{}}\n".to_vec(),
        ] {
            assert!(Blocks { waiting: bad.clone(), begun: false, left: None }.whole().is_err(), "{bad:?}");
        }
    }
}
