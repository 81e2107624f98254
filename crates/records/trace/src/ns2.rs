//! The old wireless trace format of ns-2 (`trace/cmu-trace.cc`), for the scripts that read it.
//!
//! `docs/reference/ns2-trace.md` says which fields are exact and which are not.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;
use wayhop_core::{Addr, DropReason, Time};
use wayhop_wire::{ipv4, ipv6};

use crate::{Error, HopEvent, HopKind, NodeInfo, PacketClass, PositionEvent};

pub(crate) struct Ns2Trace {
    path: PathBuf,
    out: BufWriter<File>,
    lines: Lines,
}

impl Ns2Trace {
    pub(crate) fn create(path: &Path, nodes: &[NodeInfo]) -> Result<Self, Error> {
        let out = BufWriter::with_capacity(1 << 18, File::create(path).map_err(Error::io(path, "create"))?);
        Ok(Self { path: path.to_owned(), out, lines: Lines::new(nodes) })
    }

    pub(crate) fn write(&mut self, hops: &[HopEvent], positions: &[PositionEvent]) -> Result<(), Error> {
        let Self { out, lines, .. } = self;
        for p in positions {
            lines.movement(p);
        }
        hops.iter().try_for_each(|e| lines.hop(out, e)).map_err(Error::io(&self.path, "write"))
    }

    /// Writes what waits, but for movements that are not due.
    pub(crate) fn flush(&mut self) -> Result<(), Error> {
        self.out.flush().map_err(Error::io(&self.path, "write"))
    }

    pub(crate) fn close(&mut self) -> Result<(), Error> {
        let Self { out, lines, .. } = self;
        lines.moves_until(out, Time::NEVER).and_then(|()| out.flush()).map_err(Error::io(&self.path, "write"))
    }
}

struct Lines {
    ids: FxHashMap<Addr, u32>,
    /// The TTL with which each flow's packets start: what is missing from it later is the number of hops.
    first_ttl: FxHashMap<u32, u8>,
    /// Movement lines that are not due yet; a world may tell its legs ahead.
    moves: BinaryHeap<Reverse<(Time, u32, String)>>,
}

impl Lines {
    fn new(nodes: &[NodeInfo]) -> Self {
        let addresses =
            |n: &NodeInfo| [Some(Addr::from(n.addr)), n.addr6.map(Addr::from)].into_iter().flatten();
        let ids = nodes.iter().zip(0..).flat_map(|(n, id)| addresses(n).map(move |a| (a, id))).collect();
        Self { ids, first_ttl: FxHashMap::default(), moves: BinaryHeap::new() }
    }

    /// `M t id (x, y, z), (destination x, y), speed`, for legs that move.
    fn movement(&mut self, p: &PositionEvent) {
        let (v, at) = (p.velocity, p.at);
        let speed = (v.x * v.x + v.y * v.y + v.z * v.z).sqrt();
        if speed == 0.0 || p.until == Time::NEVER {
            return;
        }
        let s = p.until.since(p.time).as_secs_f64();
        let line = format!(
            "M {:.5} {} ({:.2}, {:.2}, {:.2}), ({:.2}, {:.2}), {speed:.2}",
            p.time.as_secs_f64(),
            p.node,
            at.x,
            at.y,
            at.z,
            at.x + v.x * s,
            at.y + v.y * s,
        );
        self.moves.push(Reverse((p.time, p.node.0, line)));
    }

    fn moves_until(&mut self, out: &mut impl Write, t: Time) -> io::Result<()> {
        while let Some(next) = self.moves.peek_mut().filter(|m| m.0.0 <= t) {
            let Reverse((_, _, line)) = std::collections::binary_heap::PeekMut::pop(next);
            writeln!(out, "{line}")?;
        }
        Ok(())
    }

    fn hop(&mut self, out: &mut impl Write, e: &HopEvent) -> io::Result<()> {
        self.moves_until(out, e.time)?;
        match e.kind {
            HopKind::Originate => {
                self.starts(e);
                self.line(out, e, 's', "AGT", "---", above_ip(e))?;
                self.line(out, e, 'r', "RTR", "---", above_ip(e))
            }
            HopKind::Send => {
                self.starts(e);
                self.line(out, e, 's', "RTR", "---", e.bytes)
            }
            HopKind::Forward => self.line(out, e, 'f', "RTR", "---", e.bytes),
            HopKind::Receive => self.line(out, e, 'r', "RTR", "---", e.bytes),
            HopKind::Deliver => self.line(out, e, 'r', "AGT", "---", above_ip(e)),
            HopKind::Drop => {
                let (layer, code) = e.reason.map_or(("RTR", "---"), |r| (drop_layer(r), r.ns2_code()));
                self.line(out, e, 'D', layer, code, e.bytes)
            }
            // With `macTrace OFF`, as here, ns-2 writes neither.
            HopKind::Transmit | HopKind::Recall => Ok(()),
        }
    }

    fn line(
        &self,
        out: &mut impl Write,
        e: &HopEvent,
        op: char,
        layer: &str,
        why: &str,
        size: u32,
    ) -> io::Result<()> {
        let ns = e.time.as_nanos();
        write!(
            out,
            "{op} {}.{:09} _{}_ {layer} {why:>4} {} {} {size} ",
            ns / 1_000_000_000,
            ns % 1_000_000_000,
            e.node,
            e.packet.0,
            type_name(e.class),
        )?;
        let received = matches!(e.kind, HopKind::Receive | HopKind::Deliver);
        match self.ids.get(&e.peer) {
            Some(from) if received && e.destination == Addr::BROADCAST => {
                write!(out, "[0 ffffffff {from:x} 800]")?;
            }
            Some(from) if received => {
                write!(out, "[0 {:x} {from:x} 800]", e.node.0)?;
            }
            _ => {
                write!(out, "[0 0 0 0]")?;
            }
        }
        let port = if e.class.is_control() { 255 } else { 0 };
        let next_hop = match e.kind {
            HopKind::Originate => 0,
            HopKind::Receive if e.destination == Addr::BROADCAST => 0,
            HopKind::Receive | HopKind::Deliver => i64::from(e.node.0),
            _ => self.id(e.peer).max(0),
        };
        let (source, destination) = (self.id(e.source), self.id(e.destination));
        write!(out, " ------- [{source}:{port} {destination}:{port} {} {next_hop}] ", e.ttl)?;
        self.tail(out, e)
    }

    fn tail(&self, out: &mut impl Write, e: &HopEvent) -> io::Result<()> {
        let (source, destination) = (self.id(e.source), self.id(e.destination));
        let seq = e.flow.map_or(0, |f| f.seq);
        match e.class {
            PacketClass::Cbr
            | PacketClass::Poisson
            | PacketClass::OnOff
            | PacketClass::Pareto
            | PacketClass::Trace
            | PacketClass::Ping
            | PacketClass::Data => {
                writeln!(out, "[{seq}] {} 0", self.forwards(e))
            }
            PacketClass::Tcp => writeln!(out, "[{seq} 0] {} 0", self.forwards(e)),
            PacketClass::Control(class) => {
                let mut tail = String::new();
                class.ns2_tail(e.messages, source, destination, &mut tail);
                writeln!(out, "{tail}")
            }
            PacketClass::Arp => writeln!(out, "[0 {source}/{source} {destination}/{destination}]"),
        }
    }

    /// Remembers the TTL with which the packet sets out.
    fn starts(&mut self, e: &HopEvent) {
        if let Some(f) = e.flow {
            self.first_ttl.insert(f.flow, e.ttl);
        }
    }

    /// How many hops the packet has made.
    fn forwards(&self, e: &HopEvent) -> u32 {
        let Some(first) = e.flow.and_then(|f| self.first_ttl.get(&f.flow)) else { return 0 };
        let passed = u32::from(first.saturating_sub(e.ttl));
        passed + u32::from(matches!(e.kind, HopKind::Receive | HopKind::Deliver))
    }

    /// The number of the node with this address; -1 for all nodes and for strangers.
    fn id(&self, a: Addr) -> i64 {
        self.ids.get(&a).map_or(-1, |id| i64::from(*id))
    }
}

/// ns-2's agents know nothing of the IP header.
fn above_ip(e: &HopEvent) -> u32 {
    let header = if e.source.is_v4() { ipv4::HEADER_LEN } else { ipv6::HEADER_LEN };
    e.bytes.saturating_sub(header as u32)
}

fn type_name(c: PacketClass) -> &'static str {
    match c {
        PacketClass::Control(class) => class.protocol().messages.ns2.tag,
        PacketClass::Arp => "ARP",
        PacketClass::Poisson | PacketClass::OnOff => "exp",
        PacketClass::Data | PacketClass::Trace => "udp",
        PacketClass::Cbr | PacketClass::Pareto | PacketClass::Ping | PacketClass::Tcp => c.name(),
    }
}

fn drop_layer(r: DropReason) -> &'static str {
    match r {
        DropReason::QueueFull | DropReason::ArpFull | DropReason::ArpFailed => "IFQ",
        DropReason::MacRetries | DropReason::TooLong | DropReason::LostOnAir => "MAC",
        DropReason::NoListener => "AGT",
        _ => "RTR",
    }
}

#[cfg(test)]
mod tests;
