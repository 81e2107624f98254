//! From what an interpreter writes to effects.

use std::collections::BTreeMap;

use wayhop_core::{
    Addr, Cx, DropReason, IfaceId, Packet, Prefix, Priority, Route, Socket, Span, Time, TimerKey, TxId,
    TxSpec,
};

use super::read::{Given, Wish};
use crate::{check, names};

/// The packets of one engine, by handle.
pub(super) type Packets = BTreeMap<u64, Packet>;

/// Carries out what a handler wants. The error is a phrase whose subject is the module.
pub(super) fn apply(
    wish: &Wish<'_>,
    cx: &mut Cx<'_>,
    packets: &mut Packets,
    interfaces: u8,
) -> Result<(), String> {
    match *wish {
        Wish::Send { next_hop, iface, priority, delay_ns, report, packet } => {
            let priority = match priority {
                0 => Priority::Control,
                1 => Priority::High,
                2 => Priority::Data,
                n => return Err(format!("sent a packet with priority {n}; give CONTROL, HIGH or DATA")),
            };
            let spec = TxSpec {
                next_hop: next_hop.into(),
                iface: interface(iface, interfaces)?,
                priority,
                delay: Span::from_nanos(delay_ns),
                report: report.map(TxId),
            };
            let packet = take(&packet, "sent", cx, packets)?;
            cx.send(packet, spec);
        }
        Wish::Deliver(given) => {
            let packet = take(&given, "delivered", cx, packets)?;
            cx.deliver(packet);
        }
        Wish::Drop(reason, given) => {
            let Some(reason) = DropReason::ALL.get(usize::from(reason)) else {
                return Err(format!("dropped a packet with reason {reason}; give a wayhop.DropReason"));
            };
            let packet = take(&given, "dropped", cx, packets)?;
            cx.drop(packet, *reason);
        }
        Wish::Consume(given) => {
            let packet = take(&given, "consumed", cx, packets)?;
            cx.consume(packet);
        }
        Wish::SetTimer(key, at_ns) => cx.set_timer(TimerKey(key), Time::from_nanos(at_ns)),
        Wish::ClearTimer(key) => cx.clear_timer(TimerKey(key)),
        Wish::Open(kind, number) => cx.open(match (kind, u8::try_from(number)) {
            (0, _) => Socket::Udp(number),
            (1, Ok(number)) => Socket::Ip(number),
            _ => return Err(format!("opened a socket of kind {kind} and number {number}")),
        }),
        Wish::Install { destination, prefix_len, next_hop, iface, metric } => cx.install(Route {
            destination: prefix(destination.into(), prefix_len)?,
            next_hop: next_hop.into(),
            iface: interface(iface, interfaces)?,
            metric,
        }),
        Wish::Uninstall(destination, prefix_len) => cx.uninstall(prefix(destination.into(), prefix_len)?),
        Wish::Recall(next_hop) => cx.recall(next_hop),
        Wish::Note(what, about, value) => cx.note(names::name(what), about, value),
        Wish::Copy(of, to) => {
            let original = packets.get(&of).ok_or_else(|| unknown("copied", of))?;
            let copy = cx.copy(original);
            packets.insert(to, copy);
        }
    }
    Ok(())
}

fn interface(number: u8, interfaces: u8) -> Result<IfaceId, String> {
    let iface = IfaceId(number);
    if iface == IfaceId::ANY || number < interfaces {
        return Ok(iface);
    }
    Err(format!("used interface {number}; this node has {interfaces} (numbered from 0)"))
}

fn prefix(addr: Addr, length: u8) -> Result<Prefix, String> {
    if length > 32 {
        return Err(format!("used prefix length {length} with {addr}; give 32 at most"));
    }
    Ok(Prefix::around(addr, length))
}

/// The package tells a packet that is used twice before this does.
fn unknown(did: &str, handle: u64) -> String {
    format!("{did} a packet with handle {handle:#x}, which it does not have")
}

/// Takes a packet from the module, with its new bytes.
fn take(given: &Given<'_>, did: &str, cx: &mut Cx<'_>, packets: &mut Packets) -> Result<Packet, String> {
    let Given { handle, octets } = given;
    if let Some(octets) = octets {
        check::is_packet(octets).map_err(|what| format!("{did} {what}"))?;
    }
    if *handle != 0 {
        let mut packet = packets.remove(handle).ok_or_else(|| unknown(did, *handle))?;
        if let Some(octets) = octets {
            packet.truncate(0);
            packet.extend(octets);
        }
        return Ok(packet);
    }
    let octets = octets.ok_or_else(|| unknown(did, 0))?;
    let mut packet = cx.alloc(octets.len());
    packet.bytes_mut().copy_from_slice(octets);
    Ok(packet)
}
