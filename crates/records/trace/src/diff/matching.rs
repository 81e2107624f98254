//! Which packet is which.

use super::sightings::{Name, Sighting, Sightings};

/// How long after its transmission, by the receiver's clock, a packet may be received.
const MAX_LAG_NS: i128 = 1_000_000_000;
/// How far two clocks may drift apart within a capture, and a reception seem to come before its transmission.
const DRIFT_NS: i128 = 5_000_000;
/// How much later than it left a busy host may note that a packet left.
const MAX_DELAY_NS: i128 = 20_000_000;

/// A packet that was sent.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct SentPacket {
    /// When, by the sender's clock: nanoseconds since its epoch; 0 if the capture has no times.
    pub time_ns: u64,
    /// Its number in the sender's capture.
    pub frame: u64,
    /// Whether the other node received it.
    pub received: bool,
}

/// What one node sent and another did not receive.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Difference {
    /// Every packet sent, by time.
    pub sent: Vec<SentPacket>,
    /// How far the receiver's clock is ahead of the sender's, time of flight included, nanoseconds.
    pub clock_offset_ns: i64,
}

impl Difference {
    /// The number of packets that were not received.
    pub fn lost(&self) -> usize {
        self.sent.iter().filter(|s| !s.received).count()
    }
    /// When the first packet was sent, nanoseconds; 0 if none was.
    pub fn begins_ns(&self) -> u64 {
        self.sent.first().map_or(0, |s| s.time_ns)
    }
}

/// Matches what was `sent` with what was `heard`.
pub fn difference(sent: &Sightings, heard: &Sightings) -> Difference {
    let transmitters = sent.transmitters && heard.transmitters;
    let headers = sent.headers && heard.headers;
    let list = |s: &Sightings| {
        let mut list: Vec<Sighting> = s.list.clone();
        for one in &mut list {
            one.name.transmitter = one.name.transmitter.filter(|_| transmitters);
            one.name.header = one.name.header.filter(|_| headers);
        }
        list.sort_unstable_by_key(|s| (s.name, s.time_ns, s.frame));
        list
    };
    let (sent, heard) = (list(sent), list(heard));
    let offset = clock_offset(&sent, &heard);
    let mut out: Vec<SentPacket> = Vec::with_capacity(sent.len());
    each_name(&sent, &heard, |copies, receptions| {
        let start = out.len();
        out.extend(copies.iter().map(|s| SentPacket { time_ns: s.time_ns, frame: s.frame, received: false }));
        match_copies(&mut out[start..], receptions, offset);
    });
    out.sort_unstable_by_key(|s| (s.time_ns, s.frame));
    let clock_offset_ns = offset.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64;
    Difference { sent: out, clock_offset_ns }
}

/// Gives each reception to the latest transmission before it that has none yet; without one, to the next, if that was noted late. Both are
/// in order of time.
fn match_copies(copies: &mut [SentPacket], receptions: &[Sighting], offset: i128) {
    // Transmissions without a reception that begin no later than the reception at hand, the latest on top.
    let mut open: Vec<usize> = Vec::new();
    let mut next = 0;
    for r in receptions {
        let at = i128::from(r.time_ns) - offset;
        while next < copies.len() && i128::from(copies[next].time_ns) <= at + DRIFT_NS {
            open.push(next);
            next += 1;
        }
        if let Some(i) = open.pop_if(|i| at - i128::from(copies[*i].time_ns) <= MAX_LAG_NS) {
            copies[i].received = true;
        } else if copies.get(next).is_some_and(|c| i128::from(c.time_ns) <= at + MAX_DELAY_NS) {
            copies[next].received = true;
            next += 1;
        }
    }
}

/// The median of reception less transmission over packets received as often as sent; 0 if there are none.
fn clock_offset(sent: &[Sighting], heard: &[Sighting]) -> i128 {
    let mut offsets = Vec::new();
    each_name(sent, heard, |copies, receptions| {
        if copies.len() == receptions.len() {
            offsets.push(i128::from(receptions[0].time_ns) - i128::from(copies[0].time_ns));
        }
    });
    offsets.sort_unstable();
    offsets.get(offsets.len() / 2).copied().unwrap_or(0)
}

/// Calls `with` for every name in `sent`, with its transmissions and its receptions.
fn each_name<'a>(
    sent: &'a [Sighting],
    heard: &'a [Sighting],
    mut with: impl FnMut(&'a [Sighting], &'a [Sighting]),
) {
    let mut rest = heard;
    for copies in sent.chunk_by(|a, b| a.name == b.name) {
        let name: Name = copies[0].name;
        rest = &rest[rest.partition_point(|s| s.name < name)..];
        let (receptions, after) = rest.split_at(rest.partition_point(|s| s.name == name));
        rest = after;
        with(copies, receptions);
    }
}
