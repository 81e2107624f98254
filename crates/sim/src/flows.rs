//! The run's traffic: sources and sinks, and the way between a packet and its flow.

use wayhop_core::{Addr, FlowTag, Packet, PacketId, PacketMeta, Pool, Span, Time};
use wayhop_trace::PacketClass;
use wayhop_wire::{ipv4, udp};

#[derive(Clone, Debug)]
pub struct Quick { pub src: u32, pub dst: u32, pub start: f64, pub interval: f64, pub bytes: usize }

pub(crate) struct Flows { pub(crate) list: Vec<Quick>, seq: Vec<u32>, pub(crate) received: Vec<u64>, pub(crate) delays: Vec<u64>, pub(crate) hops: u64 , seen: Vec<Vec<bool>>}

impl Flows {
    pub(crate) fn new(list: Vec<Quick>) -> Self {
        let n = list.len();
        Self { list, seq: vec![0; n], received: vec![0; n], delays: vec![], hops: 0, seen: vec![vec![]; n] }
    }
    pub(crate) fn class(&self, _: Option<FlowTag>) -> PacketClass { PacketClass::Cbr }
    pub(crate) fn first(&self, f: usize) -> Time { Time::from_secs_f64(self.list[f].start) }
    pub(crate) fn next(&self, f: usize, now: Time) -> Time { now + Span::from_secs_f64(self.list[f].interval) }
    pub(crate) fn build(&mut self, f: usize, now: Time, src: Addr, dst: Addr, pool: &mut Pool, next_id: &mut u64) -> Packet {
        let id = PacketId(*next_id); *next_id += 1;
        let seq = self.seq[f]; self.seq[f] += 1;
        let meta = PacketMeta { id, flow: Some(FlowTag { flow: f as u32, seq }), born: now };
        let n = self.list[f].bytes;
        let mut p = pool.zeroed(28 + n, meta);
        let mut ip = ipv4::Repr::new(src, dst, 17, (8 + n) as u16);
        ip.ttl = 64; ip.id = seq as u16;
        ip.emit(p.bytes_mut());
        udp::Repr { src_port: 5000, dst_port: 5000, payload_len: n as u16 }.emit(&mut p.bytes_mut()[20..], src, dst);
        p
    }
    pub(crate) fn deliver(&mut self, at: Time, _node: u32, p: &Packet, _: &mut Pool, _: &mut u64) -> Option<Packet> {
        let t = p.meta.flow.unwrap();
        let s = &mut self.seen[t.flow as usize];
        if s.len() <= t.seq as usize { s.resize(t.seq as usize + 1, false); }
        if s[t.seq as usize] { return None; }
        s[t.seq as usize] = true;
        self.received[t.flow as usize] += 1;
        self.delays.push((at - p.meta.born).as_nanos());
        let ttl = ipv4::Packet::new_checked(p.bytes()).unwrap().ttl();
        self.hops += 65 - u64::from(ttl);
        None
    }
}
