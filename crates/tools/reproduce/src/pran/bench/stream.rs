//! UDP packets from one host to another, counted where they arrive.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{io, thread};

use nix::cmsg_space;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, SockaddrIn, recvmsg};
use nix::time::{ClockId, clock_gettime};
use socket2::{Domain, Protocol, Socket, Type};
use wayhop_linux::syscalls::{self, BATCH, Receiver, Sender};
use wayhop_netns::Namespace;

const TTL: u32 = 64;
pub(super) const NUMBER: usize = 8;
/// Most packets in transit without loss: a TUN's queue, the shortest on the way, holds 500.
const UNDER_WAY: u64 = 256;
/// After this time without arrivals, packets in transit count as lost.
const LOST: Duration = Duration::from_millis(30);
/// How long a stream runs before it is counted.
const WARM_UP: Duration = Duration::from_millis(60);
/// How long to wait at the end for packets in transit.
const LAST_PACKETS: Duration = Duration::from_millis(30);
/// How long a receiver waits before it looks whether all is over.
const WAIT: Duration = Duration::from_millis(20);

/// How long a sender that has nothing to send waits.
const PAUSE: Duration = Duration::from_micros(20);
const LONGEST: usize = 2048;

pub(super) struct Stream {
    from: Socket,
    to: Socket,
}

#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub(super) struct StreamResult {
    pub(super) input_pps: f64,
    pub(super) output_pps: f64,
    /// All that arrived, warming up and the rest included.
    pub(super) arrived: u64,
    /// Processor time of sender and receiver, nanoseconds.
    pub(super) busy_ns: u64,
}

/// How long a stream takes besides the time in which it is counted.
pub(super) const AROUND: Duration = Duration::from_millis(100);

impl Stream {
    pub(super) fn open(
        from: &Namespace,
        source: Ipv4Addr,
        to: &Namespace,
        destination: Ipv4Addr,
        port: u16,
    ) -> io::Result<Self> {
        let udp = |at: Ipv4Addr, port: u16| {
            let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
            socket.set_ttl_v4(TTL)?;
            socket.bind(&SocketAddrV4::new(at, port).into())?;
            Ok::<_, io::Error>(socket)
        };
        let to = to.within(|| {
            let socket = udp(destination, port)?;
            syscalls::force_receive_buffer(socket.as_fd(), 16 << 20)?;
            syscalls::tell_ttl(socket.as_fd())?;
            socket.set_read_timeout(Some(WAIT))?;
            Ok(socket)
        })?;
        let from = from.within(|| {
            let socket = udp(source, 0)?;
            socket.connect(&SocketAddrV4::new(destination, port).into())?;
            Ok(socket)
        })?;
        Ok(Self { from, to })
    }

    /// Sends a packet now and then until one arrives, so that there is a route. Returns whether one did.
    pub(super) fn prime(&self, payload: usize, patience: Duration) -> bool {
        let begun = Instant::now();
        let mut room = [0; LONGEST];
        let packet = vec![0; payload];
        while begun.elapsed() < patience {
            // "Host unreachable" of an earlier one comes back here.
            let _ = self.from.send(&packet);
            if io::Read::read(&mut &self.to, &mut room).is_ok() {
                // What else comes of these is not of what follows.
                while io::Read::read(&mut &self.to, &mut room).is_ok() {}
                return true;
            }
        }
        false
    }

    /// Sends packet `number` alone, and waits for it. Returns over how many hops it came.
    pub(super) fn one(&self, payload: usize, number: u64) -> Option<u32> {
        let mut packet = vec![0; payload.max(NUMBER)];
        let at = packet.len() - NUMBER;
        packet[at..].copy_from_slice(&number.to_be_bytes());
        self.from.send(&packet).ok()?;
        let begun = Instant::now();
        while begun.elapsed() < WAIT {
            let (n, ttl) = receive(&self.to, &mut packet).ok()?;
            if number_of(&packet[..n]) == Some(number) {
                return Some((TTL + 1).saturating_sub(ttl));
            }
        }
        None
    }

    /// Sends packets for some time, and counts what arrives. Without a rate to offer, a packet is sent for each that arrives,
    /// with enough of them in transit to keep every host busy.
    pub(super) fn run(&self, payload: usize, offered_pps: Option<u32>, slice: Duration) -> StreamResult {
        let (sent, arrived, over) = (AtomicU64::new(0), AtomicU64::new(0), AtomicBool::new(false));
        let counts = || (Instant::now(), sent.load(Ordering::Relaxed), arrived.load(Ordering::Relaxed));
        let busy = busy_ns();
        thread::scope(|s| {
            let receiver = s.spawn(|| receive_all(&self.to, &arrived, &over));
            let done = AtomicBool::new(false);
            let (first, last) = thread::scope(|s| {
                s.spawn(|| send_all(&self.from, payload, offered_pps, [&sent, &arrived], &done));
                thread::sleep(WARM_UP);
                let first = counts();
                thread::sleep(slice);
                let last = counts();
                done.store(true, Ordering::Relaxed);
                (first, last)
            });
            thread::sleep(LAST_PACKETS);
            over.store(true, Ordering::Relaxed);
            let _ = receiver.join();
            let seconds = last.0.duration_since(first.0).as_secs_f64();
            StreamResult {
                input_pps: (last.1 - first.1) as f64 / seconds,
                output_pps: (last.2 - first.2) as f64 / seconds,
                arrived: arrived.load(Ordering::Relaxed),
                busy_ns: busy_ns() - busy,
            }
        })
    }
}

/// Processor time of this process so far, nanoseconds.
fn busy_ns() -> u64 {
    let time = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).map(Duration::from);
    time.map_or(0, |t| t.as_nanos() as u64)
}

/// Sends until it is told to end. Each packet has its number at its end.
fn send_all(
    socket: &Socket,
    payload: usize,
    offered_pps: Option<u32>,
    counts: [&AtomicU64; 2],
    done: &AtomicBool,
) {
    syscalls::go_first();
    let [sent, arrived] = counts;
    let mut sender = Sender::default();
    let payload = payload.max(NUMBER);
    let mut packets = vec![0; payload * BATCH];
    let begun = Instant::now();
    let (mut lost, mut seen, mut seen_at) = (0, 0, begun);
    while !done.load(Ordering::Relaxed) {
        let so_far = sent.load(Ordering::Relaxed);
        let due = if let Some(rate) = offered_pps {
            (begun.elapsed().as_secs_f64() * f64::from(rate)) as u64
        } else {
            let now = arrived.load(Ordering::Relaxed);
            if now > seen {
                (seen, seen_at) = (now, Instant::now());
            } else if seen_at.elapsed() > LOST {
                lost = so_far - now;
                seen_at = Instant::now();
            }
            now + lost + UNDER_WAY
        };
        let n = due.saturating_sub(so_far).min(BATCH as u64) as usize;
        if n == 0 {
            thread::sleep(PAUSE);
            continue;
        }
        for (packet, number) in packets.chunks_exact_mut(payload).zip(so_far..).take(n) {
            packet[payload - NUMBER..].copy_from_slice(&number.to_be_bytes());
        }
        match sender.send(socket.as_fd(), packets.chunks_exact(payload).take(n).map(|p| [p, &[]])) {
            Ok(n) => sent.store(so_far + n as u64, Ordering::Relaxed),
            // No room, or an earlier packet's "host unreachable".
            Err(_) => thread::sleep(PAUSE),
        }
    }
}

/// Counts what comes until it is told to end, each packet once.
fn receive_all(socket: &Socket, arrived: &AtomicU64, over: &AtomicBool) {
    syscalls::go_first();
    let mut receiver = Receiver::new(LONGEST);
    let mut seen = Numbers::default();
    while !over.load(Ordering::Relaxed) {
        let n = receiver.receive(socket.as_fd()).unwrap_or(0);
        let new = (0..n).filter(|i| number_of(receiver.packet(*i)).is_some_and(|n| seen.is_new(n)));
        arrived.fetch_add(new.count() as u64, Ordering::Relaxed);
    }
}

pub(super) fn number_of(packet: &[u8]) -> Option<u64> {
    packet.last_chunk::<NUMBER>().map(|n| u64::from_be_bytes(*n))
}

#[derive(Debug, Default)]
struct Numbers(Vec<u64>);

impl Numbers {
    fn is_new(&mut self, n: u64) -> bool {
        let (word, bit) = ((n / 64) as usize, 1 << (n % 64));
        // No stream has this many packets.
        if word >= 1 << 20 {
            return false;
        }
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        let new = self.0[word] & bit == 0;
        self.0[word] |= bit;
        new
    }
}

/// A packet, and its TTL on arrival.
fn receive(socket: &Socket, room: &mut [u8]) -> io::Result<(usize, u32)> {
    let mut notes = cmsg_space!(i32);
    let mut parts = [io::IoSliceMut::new(room)];
    let m = recvmsg::<SockaddrIn>(socket.as_raw_fd(), &mut parts, Some(&mut notes), MsgFlags::empty())?;
    let ttl = m.cmsgs()?.find_map(|c| match c {
        ControlMessageOwned::Ipv4Ttl(ttl) => u32::try_from(ttl).ok(),
        _ => None,
    });
    Ok((m.bytes, ttl.unwrap_or(TTL)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_that_comes_twice_is_counted_once() {
        let mut seen = Numbers::default();
        assert!([0, 1, 63, 64, 1_000].into_iter().all(|n| seen.is_new(n)));
        assert!(![0, 64, 1_000].into_iter().any(|n| seen.is_new(n)));
        assert!(!seen.is_new(u64::MAX), "no number takes the memory");
    }

    #[test]
    fn the_number_is_the_end_of_a_packet() {
        assert_eq!(number_of(&[9, 0, 0, 0, 0, 0, 0, 1, 2]), Some(258));
        assert_eq!(number_of(&[1, 2]), None);
    }
}
