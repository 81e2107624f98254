//! Counting the flows' packets where they arrive.

use std::io::{self, IoSliceMut};
use std::os::fd::AsRawFd as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use nix::cmsg_space;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg};
use socket2::Socket;
use wayhop_core::{Addr, FlowTag, NodeId, Time};
use wayhop_netns::priority;
use wayhop_trace::{HopEvent, HopKind, Messages, PacketClass};
use wayhop_transport::{INITIAL_TTL, Stamp};
use wayhop_wire::{icmp, icmpv6, ip, ipv4, udp};

use crate::record::Records;
use crate::stamped::packet_id;

/// The most words of 64 numbers that are remembered of one flow: nobody sends that many, and a wrong number must not take
/// the memory.
const MOST_WORDS: usize = 1 << 20;

/// A socket where packets of flows arrive.
pub(super) struct Listener {
    pub(super) socket: Socket,
    pub(super) node: NodeId,
    /// For the replies of a ping: the identifier of its requests.
    pub(super) echo: Option<u16>,
    /// The flows whose packets come here.
    pub(super) wanted: Vec<ExpectedFlow>,
}

/// A flow, told by where its packets come from.
#[derive(Copy, Clone, Debug)]
pub(super) struct ExpectedFlow {
    pub(super) flow: u32,
    pub(super) class: PacketClass,
    pub(super) from: Addr,
    pub(super) to: Addr,
}

/// What one socket received of one flow.
#[derive(Clone, Debug, Default)]
pub(super) struct FlowReceipt {
    pub(super) flow: u32,
    pub(super) latencies_ns: Vec<u64>,
    pub(super) octets: u64,
    pub(super) hops: u64,
    seen: Vec<u64>,
}

impl FlowReceipt {
    /// Whether packet `n` comes for the first time.
    fn is_new(&mut self, n: u32) -> bool {
        let (word, bit) = ((n / 64) as usize, 1 << (n % 64));
        if word >= MOST_WORDS {
            return false;
        }
        if word >= self.seen.len() {
            self.seen.resize(word + 1, 0);
        }
        let new = self.seen[word] & bit == 0;
        self.seen[word] |= bit;
        new
    }
}

impl Listener {
    /// Takes what comes, until it is told to end.
    pub(super) fn run(self, begun: Instant, done: &AtomicBool, records: &Records) -> Vec<FlowReceipt> {
        let each = |w: &ExpectedFlow| FlowReceipt { flow: w.flow, ..FlowReceipt::default() };
        let mut all: Vec<FlowReceipt> = self.wanted.iter().map(each).collect();
        let mut room = vec![0; 65_536];
        // What it measures is the arrival, not its own turn among the nodes.
        priority::raise();
        while !done.load(Ordering::Relaxed) {
            let Ok(arrival) = receive(&self.socket, &mut room) else { continue };
            let now = Time::from_nanos(begun.elapsed().as_nanos() as u64);
            let Some(k) = self.wanted.iter().position(|w| Some(w.from) == arrival.from) else { continue };
            let Some(data) = payload(&room[..arrival.len], self.echo, &self.wanted[k]) else { continue };
            let Some(stamp) = Stamp::parse(data) else { continue };
            let (w, r) = (self.wanted[k], &mut all[k]);
            if !r.is_new(stamp.seq) {
                continue;
            }
            r.latencies_ns.push(now.since(stamp.sent).as_nanos());
            r.octets += data.len() as u64;
            r.hops += u64::from((INITIAL_TTL + 1).saturating_sub(arrival.ttl));
            records.hop(HopEvent {
                iface: wayhop_core::IfaceId::ANY,
                time: now,
                packet: packet_id(w.flow, stamp.seq),
                flow: Some(FlowTag { flow: w.flow, seq: stamp.seq }),
                node: self.node,
                bytes: (ip::Repr::header_len(w.to) + udp::HEADER_LEN + data.len()) as u32,
                source: w.from,
                destination: w.to,
                peer: Addr::UNSPECIFIED,
                signal_dbm: f32::NAN,
                kind: HopKind::Deliver,
                class: w.class,
                messages: Messages::NONE,
                ttl: arrival.ttl,
                reason: None,
            });
        }
        all
    }
}

/// What a packet carries: all of a datagram, or the data of an echo reply that is for this flow.
fn payload<'a>(packet: &'a [u8], echo: Option<u16>, ends: &ExpectedFlow) -> Option<&'a [u8]> {
    let Some(wanted) = echo else { return Some(packet) };
    if let (Some(from), Some(to)) = (ends.from.v6(), ends.to.v6()) {
        // The kernel keeps the header of IPv6 to itself (RFC 3542, section 3).
        return match icmpv6::Repr::parse(packet, from, to).ok()? {
            icmpv6::Repr::EchoReply { ident, data, .. } if ident == wanted => Some(data),
            _ => None,
        };
    }
    match icmp::Repr::parse(ipv4::Packet::new_checked(packet).ok()?.payload()).ok()? {
        icmp::Repr::EchoReply { ident, data, .. } if ident == wanted => Some(data),
        _ => None,
    }
}

/// A packet that came: its length, who sent it, and its TTL on arrival.
struct Arrival {
    len: usize,
    from: Option<Addr>,
    ttl: u8,
}

fn receive(socket: &Socket, room: &mut [u8]) -> io::Result<Arrival> {
    let mut notes = cmsg_space!(i32);
    let mut parts = [IoSliceMut::new(room)];
    let m = recvmsg::<SockaddrStorage>(socket.as_raw_fd(), &mut parts, Some(&mut notes), MsgFlags::empty())?;
    let ttl = m.cmsgs()?.find_map(|c| match c {
        ControlMessageOwned::Ipv4Ttl(ttl) | ControlMessageOwned::Ipv6HopLimit(ttl) => u8::try_from(ttl).ok(),
        _ => None,
    });
    let from = m.address.and_then(|a| match (a.as_sockaddr_in(), a.as_sockaddr_in6()) {
        (Some(v4), _) => Some(Addr::from(v4.ip())),
        (None, v6) => v6.map(|v6| Addr::from(v6.ip())),
    });
    Ok(Arrival { len: m.bytes, from, ttl: ttl.unwrap_or(INITIAL_TTL) })
}
