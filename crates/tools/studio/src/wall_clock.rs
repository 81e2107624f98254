//! Captures of real nodes have the time of day: a packet's frames are those with its addresses, at about its times.

use std::net::IpAddr;
use std::ops::Range;

use wayhop_trace::{CapturedFrame, RunDir, Story, network};

use crate::moments::{Moments, joined};

/// A frame is in the capture so long before its row at most, nanoseconds: the row's time is that of the node's loop, and in a lab it is
/// off by half of what it took to ask the daemon for its time.
const BEFORE_NS: u64 = 100_000_000;
/// And so long after it: ARP may come first.
const AFTER_NS: u64 = 250_000_000;

/// How a run's time becomes that of the captures, and what its packet's frames look like.
pub(crate) struct WallClock {
    /// The time of the day at the run's time zero, nanoseconds since 1970.
    pub(crate) zero_ns: u64,
    ends: (IpAddr, IpAddr),
}

impl WallClock {
    /// Of a run whose captures have the time of the day; `None` for others, and where nobody knows what the packet looks like.
    pub(crate) fn of(run: &RunDir, story: &Story) -> Option<Self> {
        let zero_ns = run.summary().ok()?.time_zero_unix_ns?;
        Some(Self { zero_ns, ends: (story.source.parse().ok()?, story.destination.parse().ok()?) })
    }

    fn at(&self, run_ns: u64) -> u64 {
        self.zero_ns.saturating_add(run_ns)
    }

    /// The stretches of a capture to read.
    pub(crate) fn ranges(&self, moments: &Moments) -> Vec<Range<u64>> {
        let all = moments.sent.iter().chain(&moments.received).map(|&t| self.at(t));
        joined(all.map(|t| t.saturating_sub(BEFORE_NS)..t.saturating_add(AFTER_NS)).collect())
    }

    /// Whether a frame carries a packet with the same ends.
    pub(crate) fn is_of(&self, frame: &CapturedFrame) -> bool {
        network(frame.link_type, &frame.bytes).is_ok_and(|link| ends(link.ip) == Some(self.ends))
    }
}

/// The source and the destination of an IP packet.
fn ends(ip: &[u8]) -> Option<(IpAddr, IpAddr)> {
    fn address<const N: usize>(ip: &[u8], at: usize) -> Option<[u8; N]> {
        ip.get(at..at + N)?.try_into().ok()
    }
    match ip.first()? >> 4 {
        4 => Some((address::<4>(ip, 12)?.into(), address::<4>(ip, 16)?.into())),
        6 => Some((address::<16>(ip, 8)?.into(), address::<16>(ip, 24)?.into())),
        _ => None,
    }
}

/// Of frames with the packet's ends: for each of its moments the nearest one in time that goes the same way, each frame once.
pub(crate) fn by_ends(
    clock: &WallClock,
    moments: &Moments,
    mut near: Vec<CapturedFrame>,
) -> Vec<CapturedFrame> {
    let mut pairs: Vec<(u64, u64, bool, usize)> = Vec::new();
    for (is_sent, all) in [(true, &moments.sent), (false, &moments.received)] {
        for &moment in all {
            let at = clock.at(moment);
            for (i, frame) in near.iter().enumerate().filter(|(_, f)| f.sent.is_none_or(|s| s == is_sent)) {
                let time = frame.time_ns.unwrap_or(0);
                if time.saturating_add(BEFORE_NS) >= at && time <= at.saturating_add(AFTER_NS) {
                    pairs.push((time.abs_diff(at), moment, is_sent, i));
                }
            }
        }
    }
    pairs.sort_unstable();
    let (mut served, mut taken) = (Vec::new(), vec![false; near.len()]);
    for (_, moment, is_sent, i) in pairs {
        if !taken[i] && !served.contains(&(moment, is_sent)) {
            taken[i] = true;
            served.push((moment, is_sent));
        }
    }
    let mut taken = taken.into_iter();
    near.retain(|_| taken.next().unwrap_or(false));
    near
}

#[cfg(test)]
mod tests {
    use super::*;

    const ZERO: u64 = 1_795_000_000_000_000_000;

    fn clock() -> WallClock {
        WallClock { zero_ns: ZERO, ends: ([10, 0, 0, 1].into(), [10, 0, 0, 3].into()) }
    }

    /// An Ethernet frame with an IPv4 header, `ms` after the run's time zero.
    fn frame(number: u64, ms: u64, sent: bool, destination: u8) -> CapturedFrame {
        let ethernet = [&[2; 12][..], &[8, 0]].concat();
        let ip = [0x45, 0, 0, 20, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, destination];
        CapturedFrame {
            number,
            time_ns: Some(ZERO + ms * 1_000_000),
            link_type: 1,
            bytes: [&ethernet[..], &ip].concat(),
            original_len: 34,
            sent: Some(sent),
            ..CapturedFrame::default()
        }
    }

    #[test]
    fn the_nearest_frame_of_the_same_ends_and_way_is_the_packets() {
        let ms = |t: u64| t * 1_000_000;
        let moments = Moments { sent: [ms(1_000), ms(1_010)].into(), received: [ms(990)].into() };
        let all = [
            frame(1, 989, false, 3),
            frame(2, 995, false, 9),
            frame(3, 1_001, true, 3),
            frame(4, 1_011, true, 3),
            frame(5, 1_040, true, 3),
            frame(6, 1_002, false, 3),
            frame(7, 3_000, true, 3),
        ];
        let ranges = clock().ranges(&moments);
        assert_eq!(ranges.len(), 1);
        assert_eq!(ranges[0], ZERO + ms(890)..ZERO + ms(1_260));
        let near: Vec<_> = all.into_iter().filter(|f| clock().is_of(f)).collect();
        let found: Vec<u64> = by_ends(&clock(), &moments, near).iter().map(|f| f.number).collect();
        assert_eq!(found, [1, 3, 4]);
    }

    #[test]
    fn octets_without_addresses_have_no_ends() {
        for ip in [&[][..], &[0x45; 19], &[0x60; 39], &[0x15; 60]] {
            assert_eq!(ends(ip), None, "{ip:?}");
        }
        let six = [&[0x60][..], &[0; 7], &[0xfd; 16], &[0xfe; 16]].concat();
        assert_eq!(ends(&six), Some(([0xfd; 16].into(), [0xfe; 16].into())));
    }
}
