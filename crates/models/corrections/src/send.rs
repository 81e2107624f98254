//! A reference station's frames into the mesh.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::thread;
use std::time::{Duration, Instant};

use crate::framer::Framer;
use crate::group::{BoundSocket, Group};
use crate::pace::Pace;
use crate::packer::Packer;
use crate::source::{Source, SourceEvent};

/// A station sends the frames of a moment one after the other: so long a frame waits for the next ones.
const LINGER: Duration = Duration::from_millis(30);
/// How often somebody who waits looks whether it is still wanted.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// What was sent.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct SendStatistics {
    /// RTCM 3 frames.
    pub frames: u64,
    /// In this many datagrams.
    pub datagrams: u64,
    /// Their octets.
    pub octets: u64,
    /// Datagrams that nobody took: the interface was away.
    pub lost: u64,
}

struct Sender<'a> {
    group: &'a Group,
    socket: Option<BoundSocket>,
    packer: Packer,
    since: Instant,
    sent: SendStatistics,
    trouble: Option<String>,
    tell: &'a mut dyn FnMut(&str),
}

/// Sends what comes from the source to the group, until it ends or `stop` is raised. `tell` gets lines for people.
pub fn send(
    source: &Source,
    group: &Group,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(&str),
) -> io::Result<SendStatistics> {
    let heard = source.begin()?;
    let mut pace = source.is_recording().then(Pace::default);
    let mut framer = Framer::default();
    let mut sender = Sender {
        group,
        socket: None,
        packer: Packer::default(),
        since: Instant::now(),
        sent: SendStatistics::default(),
        trouble: None,
        tell,
    };
    while !stop.load(Ordering::Relaxed) {
        match heard.recv_timeout(LINGER) {
            Ok(SourceEvent::Octets(octets)) => framer.push(&octets, |frame| {
                let wait = pace.as_mut().map_or(Duration::ZERO, |p| p.before(frame));
                if !wait.is_zero() {
                    sender.flush();
                    sleep(wait, stop);
                }
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                if let Some(full) = sender.packer.push(frame) {
                    sender.give(&full);
                    sender.since = Instant::now();
                }
            }),
            Ok(SourceEvent::Connected) => (sender.tell)("the station's frames come"),
            Ok(SourceEvent::Trouble(why)) => (sender.tell)(&why),
            Err(RecvTimeoutError::Timeout) => {}
            Ok(SourceEvent::End) | Err(RecvTimeoutError::Disconnected) => break,
        }
        if sender.since.elapsed() >= LINGER {
            sender.flush();
        }
    }
    sender.flush();
    Ok(sender.sent)
}

/// Sleeps, unless it is to end.
fn sleep(wait: Duration, stop: &AtomicBool) {
    let until = Instant::now() + wait;
    while let Some(left) =
        until.checked_duration_since(Instant::now()).filter(|_| !stop.load(Ordering::Relaxed))
    {
        thread::sleep(left.min(LOOK_EVERY));
    }
}

impl Sender<'_> {
    fn flush(&mut self) {
        self.since = Instant::now();
        if let Some(datagram) = self.packer.take() {
            self.give(&datagram);
        }
    }

    fn give(&mut self, (octets, frames): &(Vec<u8>, u64)) {
        let trouble = match self.try_give(octets) {
            Ok(()) => {
                self.sent.frames += frames;
                self.sent.datagrams += 1;
                self.sent.octets += octets.len() as u64;
                None
            }
            Err(e) => {
                // An interface that comes back needs another socket.
                self.socket = None;
                self.sent.lost += 1;
                Some(format!("corrections are lost: {}: {e}", self.group.interface))
            }
        };
        // Once, and not for each.
        if trouble != self.trouble {
            (self.tell)(trouble.as_deref().unwrap_or("sending corrections again"));
            self.trouble = trouble;
        }
    }

    fn try_give(&mut self, octets: &[u8]) -> io::Result<()> {
        let group = self.group;
        let bound = match self.socket.take().filter(|b| b.is_current(group)) {
            Some(bound) => bound,
            None => group.sender()?,
        };
        self.socket.insert(bound).socket.send(octets).map(drop)
    }
}
