//! Frames as the kernel's loopback interface has them. Needs root and network namespaces: without root the tests are skipped
//! with a message; in CI they fail.

use std::net::UdpSocket;
use std::os::fd::AsFd as _;

use socket2::{Domain, Socket, Type};
use wayhop_netns::Namespace;

use super::*;
use crate::filter;

const UDP: u8 = 17;

/// A ring on the loopback interface of a new namespace, which takes UDP, and a socket that sends to itself there.
struct Loop {
    ring: Ring,
    packets: Socket,
    udp: UdpSocket,
    _namespace: Namespace,
}

impl Loop {
    fn new(longest: usize) -> Option<Self> {
        if !crate::tests::is_root() {
            return None;
        }
        let namespace = Namespace::new().unwrap();
        let (ring, packets, udp) = namespace
            .within(|| {
                let socket = Socket::new(Domain::PACKET, Type::RAW, None)?;
                socket.attach_filter(&filter::untagged(filter::ip_protocol(UDP)))?;
                let ring = Ring::new(socket.as_fd(), longest)?;
                syscalls::hear_others_only(socket.as_fd());
                syscalls::bind_packet(socket.as_fd(), nix::net::if_::if_nametoindex("lo")?, 3)?;
                let udp = UdpSocket::bind("127.0.0.1:0")?;
                udp.connect(udp.local_addr()?)?;
                Ok((ring, socket, udp))
            })
            .unwrap();
        Some(Self { ring, packets, udp, _namespace: namespace })
    }

    fn send(&self, payload: &[u8]) {
        self.udp.send(payload).unwrap();
        // So that the socket's own queue never fills.
        let mut room = [0; 2048];
        self.udp.recv(&mut room).unwrap();
    }
}

/// Octets of Ethernet, IPv4 and UDP header.
const HEADERS: usize = 14 + 20 + 8;

#[test]
fn every_frame_comes_once_in_order_and_whole_while_the_ring_wraps() {
    let Some(mut l) = Loop::new(1_514) else { return };
    let mut expected = 0_u32;
    for round in 0..40 {
        let burst = [1, 7, 64, 200][round % 4];
        for n in expected..expected + burst {
            l.send(&n.to_be_bytes());
        }
        while l.ring.waiting(64) > 0 {
            let n = l.ring.waiting(64);
            for i in 0..n {
                let frame = l.ring.frame(i);
                assert_eq!(frame.bytes.len(), HEADERS + 4);
                assert_eq!(frame.bytes[HEADERS..], expected.to_be_bytes());
                assert!(!frame.own && !frame.for_other);
                let waited = l.ring.arrival(i).unwrap().elapsed().unwrap_or_default();
                assert!(waited < Duration::from_secs(60), "stamped by the wall clock");
                expected += 1;
            }
            l.ring.release(n);
        }
        assert!(l.ring.frame(0).bytes.is_empty() && l.ring.arrival(0).is_none(), "none waits");
    }
    assert_eq!(expected, 10 * (1 + 7 + 64 + 200), "more than the memory has slots");
    assert!(expected as usize > ROOM / 2_048);
    assert_eq!(syscalls::missed(l.packets.as_fd()).unwrap(), 0);
}

#[test]
fn frames_that_find_no_room_are_counted_and_one_that_is_too_long_is_empty() {
    let Some(mut l) = Loop::new(200) else { return };
    // Slots of 512 octets: 128 before the frame, 200 of it, and what makes a power of two.
    l.send(&[1; 1_000]);
    l.send(&[2; 100]);
    assert_eq!(l.ring.waiting(64), 2);
    assert!(l.ring.frame(0).bytes.is_empty(), "cut");
    assert_eq!(l.ring.frame(1).bytes[HEADERS..], [2; 100]);
    l.ring.release(2);
    let slots = ROOM / 512;
    for _ in 0..slots + 5 {
        l.send(&[3; 8]);
    }
    assert_eq!(l.ring.waiting(usize::MAX), slots);
    assert_eq!(syscalls::missed(l.packets.as_fd()).unwrap(), 5);
}
