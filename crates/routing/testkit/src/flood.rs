//! Flooding with duplicate suppression: `examples/c/flood.c` and `examples/python/flooding.py` in Rust, line for line. They are
//! compared with it, in what they do and in what they cost.

use wayhop_core::{
    Cx, DataPlane, DropReason, Inspect, Interests, Packet, Priority, Protocol, Rng, RxMeta, Socket, Span,
    Time, TimerKey, TxReport, TxSpec,
};

const PROTOCOL: u8 = 253;
const HEADER: usize = 4;

/// The protocol, with the default parameters of the examples.
pub struct Flood {
    own: u32,
    next: u16,
    ttl: u8,
    wait: Wait,
    seen: Vec<u64>,
}

/// How long a node waits before it repeats a packet: up to 10 ms.
pub type Wait = fn(&mut Rng) -> Span;

/// As `flood.c` draws it.
pub fn wait_in_c(rng: &mut Rng) -> Span {
    Span::from_nanos(rng.bits() % 10_000_000)
}

/// As `flooding.py` draws it.
pub fn wait_in_python(rng: &mut Rng) -> Span {
    Span::from_nanos((10.0 * rng.unit() / 1000.0 * 1e9 + 0.5) as u64)
}

impl Flood {
    /// An engine that draws its waits like this.
    pub fn new(wait: Wait) -> Self {
        Self { own: 0, next: 0, ttl: 16, wait, seen: vec![0; 4_096] }
    }

    fn is_known(&mut self, source: u32, number: u16) -> bool {
        let key = u64::from(source) << 16 | u64::from(number);
        let place = &mut self.seen[(key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52) as usize];
        std::mem::replace(place, key) == key
    }

    fn repeat(&self, cx: &mut Cx<'_>, p: Packet) {
        let spec = TxSpec::broadcast().with_priority(Priority::Data).after((self.wait)(cx.rng()));
        cx.send(p, spec);
    }
}

/// Writes the length and the checksum of an IP header.
fn close(p: &mut Packet) {
    let length = p.len() as u16;
    let ip = p.bytes_mut();
    ip[2..4].copy_from_slice(&length.to_be_bytes());
    ip[10..12].fill(0);
    let header = usize::from(ip[0] & 15) * 4;
    let sum = ip[..header].chunks(2).fold(0_u32, |sum, w| sum + u32::from(u16::from_be_bytes([w[0], w[1]])));
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = (sum & 0xffff) + (sum >> 16);
    ip[10..12].copy_from_slice(&(!(sum as u16)).to_be_bytes());
}

fn word(octets: &[u8]) -> u32 {
    u32::from_be_bytes([octets[0], octets[1], octets[2], octets[3]])
}

impl Protocol for Flood {
    fn data_plane(&self) -> DataPlane {
        DataPlane::PerPacket
    }
    fn interests(&self) -> Interests {
        Interests::default()
    }
    fn start(&mut self, cx: &mut Cx<'_>) {
        self.own = cx.addr().to_bits();
        self.next = cx.rng().bits() as u16;
        cx.open(Socket::Ip(PROTOCOL));
    }
    fn on_outbound(&mut self, cx: &mut Cx<'_>, mut p: Packet) {
        let header = usize::from(p.bytes()[0] & 15) * 4;
        p.insert(header, HEADER);
        let ip = p.bytes_mut();
        (ip[header], ip[header + 1]) = (ip[9], self.ttl);
        ip[header + 2..header + 4].copy_from_slice(&self.next.to_be_bytes());
        ip[9] = PROTOCOL;
        close(&mut p);
        self.is_known(self.own, self.next);
        self.next = self.next.wrapping_add(1);
        self.repeat(cx, p);
    }
    fn on_frame(&mut self, cx: &mut Cx<'_>, mut p: Packet, _: &RxMeta) {
        let header = usize::from(p.bytes()[0] & 15) * 4;
        let ip = p.bytes();
        if ip[9] != PROTOCOL || ip.len() < header + HEADER {
            return cx.drop(p, DropReason::Malformed);
        }
        let number = u16::from_be_bytes([ip[header + 2], ip[header + 3]]);
        if self.is_known(word(&ip[12..]), number) {
            return cx.drop(p, DropReason::Duplicate);
        }
        if word(&p.bytes()[16..]) == self.own {
            let ip = p.bytes_mut();
            ip[9] = ip[header];
            p.remove(header, HEADER);
            close(&mut p);
            return cx.deliver(p);
        }
        let ip = p.bytes_mut();
        if ip[8] <= 1 || ip[header + 1] <= 1 {
            return cx.drop(p, DropReason::TtlExpired);
        }
        ip[8] -= 1;
        ip[header + 1] -= 1;
        close(&mut p);
        self.repeat(cx, p);
    }
    fn on_tx_status(&mut self, cx: &mut Cx<'_>, report: TxReport) {
        if let Some(p) = report.packet {
            cx.drop(p, DropReason::MacRetries);
        }
    }
    fn on_timer(&mut self, _: &mut Cx<'_>, _: TimerKey) {}
    fn inspect(&self, _: Time, _: &mut dyn Inspect) {}
}
