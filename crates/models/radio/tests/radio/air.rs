//! Stations at given places, sources that never run dry, and an event queue: the least that makes a radio run.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use wayhop_core::{
    FlowTag, Frame, IfaceId, Leg, Mac, NodeId, PacketId, PacketMeta, Payload, Pool, Position, Priority,
    Reporting, Span, Time, TxStatus,
};
use wayhop_radio::{
    EVERYONE, Fate, FrameAt, FrameFate, FrameHead, FrameKind, Host, Motions, NOBODY, Outgoing, Radio,
    RadioConfig, RadioEvent,
};

pub(crate) fn preset(name: &str) -> RadioConfig {
    RadioConfig::preset(name).expect("a preset")
}

pub(crate) struct Air {
    pub(crate) radio: Radio,
    pub(crate) log: Log,
}

/// What became of a frame at a station.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) struct Told {
    pub(crate) station: u32,
    pub(crate) from: u32,
    pub(crate) kind: FrameKind,
    pub(crate) packet: Option<u64>,
    pub(crate) attempt: u8,
    pub(crate) fate: Fate,
    /// The other frame's sender and packet.
    pub(crate) other: Option<(u32, Option<u64>)>,
    pub(crate) is_meant: bool,
    pub(crate) began: Time,
    pub(crate) ended: Time,
    pub(crate) watts: f64,
    pub(crate) needed_watts: f64,
}

#[derive(Default)]
pub(crate) struct Log {
    queue: BinaryHeap<Reverse<(Time, u32, u64)>>,
    events: Vec<RadioEvent>,
    places: Vec<Position>,
    /// Each station's legs, the last of which never ends; empty where all rest at `places`.
    pub(crate) legs: Vec<Vec<Leg>>,
    /// How long stations take at most for a metre, s; with `legs`.
    pub(crate) s_per_m: f64,
    /// When stations are elsewhere at once, in order; with `legs`.
    pub(crate) jumps: Vec<Time>,
    pool: Pool,
    /// (time, receiver, sender, octets, packet id)
    pub(crate) received: Vec<(Time, u32, u32, usize, u64)>,
    /// When the host had each of them.
    pub(crate) ready: Vec<Time>,
    pub(crate) overheard: Vec<(u32, u32)>,
    /// (time, station, status)
    pub(crate) finished: Vec<(Time, u32, TxStatus)>,
    /// (time, station, kind, duration, rate) of every frame that `captured` showed at its sender
    pub(crate) sent: Vec<(Time, u32, FrameKind, u16, u16)>,
    /// (time, station) of every data frame at its sender
    pub(crate) data_sent: Vec<(Time, u32)>,
    /// Whether it wants to know what becomes of each frame.
    pub(crate) watches_all: bool,
    /// What became of frames.
    pub(crate) fates: Vec<Told>,
    /// Each station's interface queue.
    waiting: Vec<VecDeque<Outgoing>>,
    saturated: Vec<(u32, u32, usize)>,
    next_id: u64,
}

impl Air {
    pub(crate) fn new(config: &RadioConfig, places: &[(f64, f64)], seed: u64) -> Self {
        let places: Vec<Position> = places.iter().map(|&(x, y)| Position::new(x, y, 0.0)).collect();
        let mut radio = Radio::new(config, places.len(), seed);
        radio.set_capturing(true);
        radio.set_overhear(true);
        let waiting = places.iter().map(|_| VecDeque::new()).collect();
        Self { radio, log: Log { places, waiting, ..Log::default() } }
    }

    /// The run begins: an access point sends beacons.
    pub(crate) fn begin(&mut self) {
        self.radio.begin(Time::ZERO, &mut self.log);
    }

    /// `from` always has another packet of `len` octets for `to`.
    pub(crate) fn saturate(&mut self, from: u32, to: u32, len: usize) {
        self.saturate_at(Time::ZERO, from, to, len);
    }

    pub(crate) fn saturate_at(&mut self, at: Time, from: u32, to: u32, len: usize) {
        self.log.saturated.push((from, to, len));
        self.send_at(at, from, to, len);
    }

    /// Queues one packet now; returns its id.
    pub(crate) fn send(&mut self, from: u32, to: u32, len: usize) -> u64 {
        self.send_at(Time::ZERO, from, to, len)
    }

    pub(crate) fn send_at(&mut self, at: Time, from: u32, to: u32, len: usize) -> u64 {
        self.log.next_id += 1;
        let id = self.log.next_id;
        let meta = PacketMeta { id: PacketId(id), ..PacketMeta::default() };
        let next_hop = if to == EVERYONE { wayhop_core::BROADCAST } else { NodeId(to).default_addr() };
        let to = if to == EVERYONE || (to as usize) < self.log.places.len() { to } else { NOBODY };
        let frame = Frame {
            packet: self.log.pool.zeroed(len, meta),
            payload: Payload::Ip,
            iface: IfaceId(0),
            next_hop: next_hop.into(),
            receiver: Mac::from_addr(next_hop),
            priority: Priority::Data,
            reporting: Reporting::Nobody,
            life: 0,
        };
        self.log.waiting[from as usize].push_back(Outgoing { frame, to });
        self.radio.wake(at, from, &mut self.log);
        id
    }

    pub(crate) fn run(&mut self, seconds: f64) {
        self.run_until(Time::from_secs_f64(seconds));
    }

    pub(crate) fn run_until(&mut self, end: Time) {
        while let Some(&Reverse((at, station, seq))) = self.log.queue.peek() {
            if at > end {
                break;
            }
            self.log.queue.pop();
            let event = self.log.events[seq as usize];
            let before = self.log.finished.len();
            self.radio.handle(at, station, event, &mut self.log);
            self.radio.fetch(at, &mut self.log);
            for i in before..self.log.finished.len() {
                let (at, from, _) = self.log.finished[i];
                if let Some(&(_, to, len)) = self.log.saturated.iter().find(|s| s.0 == from) {
                    self.send_at(at, from, to, len);
                }
            }
        }
    }

    /// Payload octets received by `to` from `from` in kb/s of `seconds`, `header` octets of each not counted.
    pub(crate) fn goodput_kbps(&self, from: u32, to: u32, header: usize, seconds: f64) -> f64 {
        let bytes: usize =
            self.log.received.iter().filter(|r| r.1 == to && r.2 == from).map(|r| r.3 - header).sum();
        bytes as f64 * 8.0 / seconds / 1000.0
    }
}

impl Motions for Log {
    fn leg(&mut self, station: u32, t: Time) -> Leg {
        let legs = self.legs.get(station as usize);
        let leg = legs.and_then(|legs| legs.iter().find(|l| t < l.until));
        leg.copied().unwrap_or_else(|| Leg::at_rest(self.places[station as usize]))
    }
    fn settled_until(&mut self, now: Time, distance_m: f64) -> Time {
        if self.legs.is_empty() {
            return Time::NEVER;
        }
        let drift = now + Span::from_secs_f64(distance_m * self.s_per_m);
        self.jumps.iter().find(|t| **t > now).map_or(drift, |t| drift.min(*t))
    }
}

impl Host for Log {
    fn schedule(&mut self, at: Time, station: u32, event: RadioEvent) {
        self.queue.push(Reverse((at, station, self.events.len() as u64)));
        self.events.push(event);
    }
    fn sending(&mut self, f: &FrameAt<'_>) {
        self.data_sent.push((f.at, f.station));
    }
    fn received(&mut self, f: &FrameAt<'_>, ready: Time) {
        self.ready.push(ready);
        let p = &f.body.expect("data").frame.packet;
        self.received.push((f.at, f.station, f.head.from, p.len(), p.meta.id.0));
    }
    fn overheard(&mut self, f: &FrameAt<'_>) {
        self.overheard.push((f.station, f.head.from));
    }
    fn finished(&mut self, at: Time, station: u32, out: Outgoing, status: TxStatus) {
        self.pool.recycle(out.frame.packet);
        self.finished.push((at, station, status));
    }
    fn next(&mut self, station: u32) -> Option<Outgoing> {
        self.waiting[station as usize].pop_front()
    }
    fn captured(&mut self, f: &FrameAt<'_>) {
        if f.station == f.head.from {
            self.sent.push((f.at, f.station, f.head.kind, f.head.duration_us, f.head.rate_100kbps));
        }
    }
    fn watches(&mut self, _: &FrameHead, _: Option<FlowTag>) -> bool {
        self.watches_all
    }
    fn fate(&mut self, f: &FrameFate<'_>) {
        self.fates.push(Told {
            station: f.frame.station,
            from: f.id.from,
            kind: f.id.kind,
            packet: f.id.packet.map(|p| p.0),
            attempt: f.attempt,
            fate: f.fate,
            other: f.other.map(|o| (o.from, o.packet.map(|p| p.0))),
            is_meant: f.is_meant,
            began: f.began,
            ended: f.ended,
            watts: f.frame.watts,
            needed_watts: f.needed_watts,
        });
    }
}
