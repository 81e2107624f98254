//! The length of TCP's streams: retransmitted bytes count once.

use std::collections::BTreeMap;

use wayhop_trace::ConversationEnds;
use wayhop_wire::tcp::{Flags, Packet};

/// The largest window, bytes (RFC 7323, section 2.3): what lies farther away is not part of the stream.
const LARGEST_WINDOW: i64 = 1 << 30;

/// What of a segment tells how long the stream is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    seq: u32,
    flags: Flags,
    octets: u32,
}

impl Segment {
    /// That of the octets behind the headers of IP and routing.
    pub(crate) fn of(carried: &[u8]) -> Option<Self> {
        let p = Packet::new_checked(carried).ok()?;
        Some(Self { seq: p.seq(), flags: p.flags(), octets: p.payload().len() as u32 })
    }
}

/// Streams by their ends, each in one direction.
#[derive(Debug, Default)]
pub(crate) struct Streams(BTreeMap<ConversationEnds, Stream>);

impl Streams {
    /// Takes a segment that was seen; of each stream in order of time, as near as captures have it.
    pub(crate) fn add(&mut self, ends: ConversationEnds, segment: Segment) {
        self.0.entry(ends).or_default().add(segment);
    }

    pub(crate) fn octets(self) -> BTreeMap<ConversationEnds, u64> {
        self.0.into_iter().map(|(ends, stream)| (ends, stream.octets())).collect()
    }
}

/// One direction between two ends: the span of the sequence numbers of its data.
#[derive(Debug, Default)]
struct Stream {
    /// Octets of earlier connections between the same ends.
    earlier: u64,
    now: Option<Span>,
}

/// From the first octet of data to behind the last one. The numbers are those of TCP, counted on beyond 32 bits.
#[derive(Copy, Clone, Debug)]
struct Span {
    begin: i64,
    end: i64,
    /// The SYN was seen: nothing lies before `begin`.
    has_syn: bool,
}

impl Stream {
    fn add(&mut self, s: Segment) {
        if s.flags.contains(Flags::RST) {
            // One that answers to no connection has any number (RFC 9293, section 3.5.2).
            return;
        }
        let has_syn = s.flags.contains(Flags::SYN);
        // A SYN counts as an octet before the data.
        let first = s.seq.wrapping_add(has_syn.into());
        let octets = i64::from(s.octets);
        let begins = Span { begin: first.into(), end: i64::from(first) + octets, has_syn };
        let Some(span) = &mut self.now else {
            self.now = Some(begins);
            return;
        };
        if has_syn && span.begin as u32 != first {
            self.earlier += span.octets();
            self.now = Some(begins);
            return;
        }
        span.has_syn |= has_syn;
        let away = i64::from(first.wrapping_sub(span.end as u32).cast_signed());
        if away.abs() > LARGEST_WINDOW || octets == 0 {
            return;
        }
        let start = span.end + away;
        // A keep-alive repeats the octet before the next one (RFC 9293, section 3.8.4), which is no data if there was none.
        let is_keep_alive = start == span.begin - 1 && octets == 1;
        if start < span.begin && !span.has_syn && !is_keep_alive {
            span.begin = start;
        }
        span.end = span.end.max(start + octets);
    }

    fn octets(&self) -> u64 {
        self.earlier + self.now.map_or(0, Span::octets)
    }
}

impl Span {
    fn octets(self) -> u64 {
        (self.end - self.begin).max(0) as u64
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NONE: Flags = Flags::ACK;
    const SYN: Flags = Flags::SYN;

    fn octets(segments: &[(u32, Flags, u32)]) -> u64 {
        let mut stream = Stream::default();
        for (seq, flags, octets) in segments {
            stream.add(Segment { seq: *seq, flags: *flags, octets: *octets });
        }
        stream.octets()
    }

    #[test]
    fn what_is_sent_again_counts_once_and_what_a_capture_missed_counts() {
        let fin = Flags::FIN.with(NONE);
        // 100, 100 again, 100 more, 50 that lie within, a gap of 100, 100 with a FIN, and the FIN again.
        let begin =
            [(999, SYN, 0), (999, SYN, 0), (1_000, NONE, 100), (1_000, NONE, 100), (1_100, NONE, 100)];
        let end = [(1_120, NONE, 50), (1_300, fin, 100), (1_400, fin, 0), (1_401, NONE, 0)];
        assert_eq!(octets(&[&begin[..], &end].concat()), 400);
    }

    #[test]
    fn numbers_go_on_from_0_behind_the_last_one() {
        assert_eq!(octets(&[(u32::MAX - 100, SYN, 0), (u32::MAX - 99, NONE, 150), (50, NONE, 30)]), 180);
        let gigabyte = |n: u32| (n.wrapping_mul(1_000_000_000), NONE, 1_000_000_000);
        assert_eq!(octets(&(0..7).map(gigabyte).collect::<Vec<_>>()), 7_000_000_000);
    }

    #[test]
    fn keep_alives_resets_and_strays_are_no_data() {
        let idle = [(999, SYN, 0), (1_000, NONE, 0), (999, NONE, 1), (999, NONE, 1)];
        assert_eq!(octets(&idle), 0);
        let busy = [(1_000, NONE, 10), (1_009, NONE, 1), (1_009, NONE, 0), (77, Flags::RST, 0)];
        assert_eq!(octets(&busy), 10);
        assert_eq!(octets(&[(1_000, NONE, 10), (1_000 + (1 << 31), NONE, 10)]), 10, "outside of any window");
    }

    #[test]
    fn connections_between_the_same_ends_add_up() {
        let two = [(9, SYN, 0), (10, NONE, 40), (5_000, SYN, 0), (5_001, NONE, 2), (5_001, NONE, 2)];
        assert_eq!(octets(&two), 42);
    }

    proptest! {
        #[test]
        fn a_stream_is_as_long_as_it_is_in_whatever_pieces_it_is_sent(
            isn: u32,
            pieces in proptest::collection::vec((1..2_000_u32, any::<bool>()), 0..60),
        ) {
            let mut stream = Stream::default();
            stream.add(Segment { seq: isn, flags: SYN, octets: 0 });
            let mut at = isn.wrapping_add(1);
            for (octets, again) in &pieces {
                for _ in 0..=u32::from(*again) {
                    stream.add(Segment { seq: at, flags: NONE, octets: *octets });
                }
                at = at.wrapping_add(*octets);
            }
            let sum: u64 = pieces.iter().map(|(octets, _)| u64::from(*octets)).sum();
            prop_assert_eq!(stream.octets(), sum);
        }

        #[test]
        fn any_segments_have_a_length(segments in proptest::collection::vec((any::<u32>(), any::<u8>(), 0..65_536_u32), 0..50)) {
            let all: Vec<_> = segments.iter().map(|(seq, flags, octets)| (*seq, Flags(*flags), *octets)).collect();
            let _ = octets(&all);
        }
    }
}
