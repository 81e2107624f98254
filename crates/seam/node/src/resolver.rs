//! The frames that wait for the link addresses of neighbours.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use wayhop_core::{Addr, Frame, Mac, Span, Time};

/// Packets that may wait for the same address, one pushing out the other, before a [`crate::Resolution::Bsd`] resolver
/// gives up on it (ns-2's `ARP_MAX_REQUEST_COUNT`).
const BSD_REQUESTS: u8 = 3;
/// The most packets that wait for link addresses at a [`crate::Resolution::Host`] resolver, all together, and for one.
const MAX_WAITING: usize = 256;
const MAX_WAITING_EACH: usize = 16;
/// The most neighbours whose late answers are remembered.
const MAX_LATE: usize = 256;
/// How often a [`crate::Resolution::Host`] resolver asks for an address, and how long it waits after each request: once a
/// second at most (RFC 1122, section 2.3.2.1), three times as in Linux and for IPv6 (RFC 4861, section 10). Then the
/// packets are given up.
const HOST_REQUESTS: u8 = 3;
pub(crate) const HOST_WAIT: Span = Span::from_secs(1);

/// What waits at one interface.
#[derive(Clone, Debug, Default)]
pub(crate) struct Resolver {
    waiting: FxHashMap<Addr, Waiting>,
    /// Frames in `waiting`.
    frames: usize,
    /// First answers that are on their way, by neighbour: until when nothing else answers it.
    late: Option<Box<FxHashMap<Addr, Time>>>,
}

#[derive(Clone, Debug, Default)]
struct Waiting {
    requests: u8,
    /// When to ask again; never with [`crate::Resolution::Bsd`].
    due: Time,
    frames: VecDeque<Frame>,
}

/// What to do with a frame whose receiver is looked up.
#[derive(Debug)]
pub(crate) enum Lookup {
    /// It may go: its receiver is known.
    Known(Frame),
    /// It waits. Perhaps the address is to be asked for, and perhaps another frame had to make room.
    Waits { ask: bool, pushed_out: Option<Frame> },
    /// Nobody answered: this frame and those that waited cannot be sent.
    Failed(VecDeque<Frame>, Frame),
}

/// What a look at the waiting frames brought.
#[derive(Debug)]
pub(crate) enum Due {
    /// Ask for this address again, and look again at this time.
    Ask(Addr, Time),
    /// Nobody has it: these frames failed.
    Failed(VecDeque<Frame>),
}

impl Resolver {
    /// What becomes of a frame whose receiver is unknown, as with BSD.
    pub(crate) fn look_up_bsd(&mut self, frame: Frame) -> Lookup {
        let w = self.waiting.entry(frame.next_hop).or_default();
        if w.requests >= BSD_REQUESTS {
            w.requests = 0;
            let held = std::mem::take(&mut w.frames);
            self.frames -= held.len();
            return Lookup::Failed(held, frame);
        }
        w.requests += 1;
        w.due = Time::NEVER;
        let pushed_out = w.frames.pop_front();
        w.frames.push_back(frame);
        self.frames += usize::from(pushed_out.is_none());
        Lookup::Waits { ask: true, pushed_out }
    }

    /// What becomes of a frame whose receiver is unknown, as with hosts (RFC 1122, section 2.3.2.2: a host saves at least the
    /// latest packet).
    pub(crate) fn look_up_host(&mut self, now: Time, frame: Frame) -> Lookup {
        if self.frames >= MAX_WAITING {
            return Lookup::Waits { ask: false, pushed_out: Some(frame) };
        }
        let w = self.waiting.entry(frame.next_hop).or_default();
        let ask = w.requests == 0;
        if ask {
            (w.requests, w.due) = (1, now + HOST_WAIT);
        }
        w.frames.push_back(frame);
        let pushed_out = if w.frames.len() > MAX_WAITING_EACH { w.frames.pop_front() } else { None };
        self.frames += usize::from(pushed_out.is_none());
        Lookup::Waits { ask, pushed_out }
    }

    /// A neighbour's link address is known: the frames that waited for it, now with their receiver.
    pub(crate) fn found(&mut self, addr: Addr, mac: Mac) -> VecDeque<Frame> {
        let mut found = self.waiting.remove(&addr).map(|w| w.frames).unwrap_or_default();
        self.frames -= found.len();
        for f in &mut found {
            f.receiver = mac;
        }
        found
    }

    /// How late a neighbour's request is answered that gets its first answer `delay` late; `None` while that is on its way.
    pub(crate) fn lateness(&mut self, now: Time, neighbour: Addr, is_new: bool, delay: Span) -> Option<Span> {
        let late = self.late.get_or_insert_default();
        late.retain(|_, until| *until > now);
        if late.contains_key(&neighbour) {
            return None;
        }
        if !is_new {
            return Some(Span::ZERO);
        }
        if late.len() < MAX_LATE {
            late.insert(neighbour, now + delay);
        }
        Some(delay)
    }

    /// Something that is due: a request to repeat, or frames to give up.
    pub(crate) fn due(&mut self, now: Time) -> Option<Due> {
        let (&addr, w) = self.waiting.iter_mut().filter(|(_, w)| w.due <= now).min_by_key(|(a, _)| **a)?;
        if w.requests < HOST_REQUESTS {
            w.requests += 1;
            w.due = now + HOST_WAIT;
            return Some(Due::Ask(addr, w.due));
        }
        let failed = self.waiting.remove(&addr).map(|w| w.frames).unwrap_or_default();
        self.frames -= failed.len();
        Some(Due::Failed(failed))
    }

    /// Takes out the IP packets that wait for this neighbour.
    pub(crate) fn recall(&mut self, addr: Addr, taken: impl FnMut(Frame)) {
        if self.waiting.is_empty() {
            return;
        }
        let Some(w) = self.waiting.get_mut(&addr) else { return };
        debug_assert!(w.frames.iter().all(|f| !f.payload.is_resolution()));
        self.frames -= w.frames.len();
        w.frames.drain(..).for_each(taken);
    }

    /// Forgets everything; the frames that waited.
    pub(crate) fn clear(&mut self) -> Vec<Frame> {
        self.late = None;
        self.frames = 0;
        let mut all: Vec<_> = self.waiting.drain().collect();
        all.sort_unstable_by_key(|(addr, _)| *addr);
        all.into_iter().flat_map(|(_, w)| w.frames).collect()
    }

    /// The frames that wait.
    pub(crate) fn held(&self) -> impl Iterator<Item = &Frame> {
        self.waiting.values().flat_map(|w| &w.frames)
    }
    /// Whether frames wait for a neighbour's link address.
    pub(crate) fn asks_for(&self, addr: Addr) -> bool {
        self.waiting.contains_key(&addr)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests;
    use wayhop_core::{NodeId, Priority};

    const HOP: u32 = 7;

    fn frame(id: u64) -> Frame {
        tests::frame(id, HOP, Priority::Data)
    }
    fn ids(frames: impl IntoIterator<Item = Frame>) -> Vec<u64> {
        frames.into_iter().map(|f| f.packet.meta.id.0).collect()
    }
    fn ms(n: u64) -> Time {
        Time::from_nanos(n * 1_000_000)
    }

    #[test]
    fn bsd_holds_one_packet_and_a_newer_one_pushes_it_out() {
        let mut r = Resolver::default();
        let addr = NodeId(HOP).default_addr();
        assert!(matches!(r.look_up_bsd(frame(1)), Lookup::Waits { ask: true, pushed_out: None }));
        let Lookup::Waits { ask: true, pushed_out: Some(first) } = r.look_up_bsd(frame(2)) else { panic!() };
        assert_eq!(first.packet.meta.id.0, 1);
        let found = r.found(addr.into(), Mac::from_addr(addr));
        assert!(found.iter().all(|f| f.receiver == Mac::from_addr(addr)));
        assert_eq!(ids(found), [2]);
    }

    #[test]
    fn bsd_gives_up_with_the_fourth_packet_without_an_answer() {
        let mut r = Resolver::default();
        for id in 1..=3 {
            assert!(matches!(r.look_up_bsd(frame(id)), Lookup::Waits { .. }));
        }
        let Lookup::Failed(held, last) = r.look_up_bsd(frame(4)) else { panic!() };
        assert_eq!((ids(held), last.packet.meta.id.0), (vec![3], 4));
        assert!(matches!(r.look_up_bsd(frame(5)), Lookup::Waits { pushed_out: None, .. }));
    }

    #[test]
    fn a_host_asks_three_times_and_then_gives_all_its_packets_up() {
        let mut r = Resolver::default();
        let mut asked = 0;
        for id in 0..3 {
            let Lookup::Waits { ask, pushed_out: None } = r.look_up_host(ms(0), frame(id)) else { panic!() };
            asked += u32::from(ask);
        }
        assert_eq!(asked, 1);
        assert!(r.due(ms(999)).is_none());
        assert!(matches!(r.due(ms(1_000)), Some(Due::Ask(_, next)) if next == ms(2_000)));
        assert!(matches!(r.due(ms(2_000)), Some(Due::Ask(_, next)) if next == ms(3_000)));
        let Some(Due::Failed(failed)) = r.due(ms(3_000)) else { panic!() };
        assert_eq!(ids(failed), [0, 1, 2]);
        assert!(r.due(ms(9_999)).is_none());
    }

    #[test]
    fn a_host_holds_some_packets_for_an_address_and_the_oldest_makes_room() {
        let mut r = Resolver::default();
        let mut pushed = Vec::new();
        for id in 0..MAX_WAITING_EACH as u64 + 2 {
            if let Lookup::Waits { pushed_out, .. } = r.look_up_host(ms(0), frame(id)) {
                pushed.extend(pushed_out);
            }
        }
        assert_eq!(ids(pushed), [0, 1]);
        assert_eq!(r.held().count(), MAX_WAITING_EACH);
    }
}
