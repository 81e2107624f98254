//! Whether a gateway's uplink works: pings of outside addresses through the uplink.
//!
//! A carrier shows that there is a cable, not that the router at its other end works, or the
//! Internet behind it.

use std::net::Ipv4Addr;
use std::os::fd::BorrowedFd;

use wayhop_core::{Span, Time};
use wayhop_linux::{EchoSocket, Error};
use wayhop_wire::{icmp, ipv4};

use crate::config::gateway::ProbeTargets;

/// What a request carries besides its number, so that nobody who has not seen one can answer it.
const COOKIE: usize = 8;

/// The pings of a gateway.
pub(crate) struct Probe {
    socket: EchoSocket,
    asked: ProbeTargets,
    rounds: Rounds,
    /// Whether the log has it that nobody answers.
    pub(crate) told_dead: bool,
}

impl Probe {
    /// Opens the socket, while that is allowed. `drawn` is a random number.
    pub(crate) fn open(uplink: &str, asked: &ProbeTargets, drawn: u64) -> Result<Self, Error> {
        let socket = EchoSocket::open(uplink)
            .map_err(Error::system(format!("gateway.probe: open a socket at {uplink}")))?;
        Ok(Self { socket, asked: asked.clone(), rounds: Rounds::new(drawn), told_dead: false })
    }

    /// To wait for answers.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.socket.fd()
    }
    /// When to ask.
    pub(crate) fn next(&self) -> Time {
        self.rounds.next
    }
    /// Whether so few rounds were answered that the uplink counts as offline.
    pub(crate) fn is_dead(&self) -> bool {
        self.rounds.missed >= self.asked.misses
    }
    /// Who is asked.
    pub(crate) fn whom(&self) -> String {
        self.asked.addresses.iter().map(Ipv4Addr::to_string).collect::<Vec<_>>().join(", ")
    }
    /// How the uplink is: nobody is asked, and nobody misses an answer, while it is down.
    pub(crate) fn follow(&mut self, is_up: bool) {
        self.rounds.follow(is_up);
    }

    /// Asks when it is time, and takes answers. Returns whether it is dead now and was not, or the other way round.
    pub(crate) fn turn(&mut self, now: Time) -> bool {
        let was_dead = self.is_dead();
        while let Some(packet) = self.socket.receive() {
            if let Some((from, seq, cookie)) = reply(packet, self.rounds.ident)
                && self.asked.addresses.contains(&from)
            {
                self.rounds.answer(seq, cookie, self.asked.misses);
            }
        }
        if let Some(message) = self.rounds.begin(now, self.asked.every) {
            for to in &self.asked.addresses {
                // Where there is no route, there is no answer.
                _ = self.socket.send(*to, &message);
            }
        }
        was_dead != self.is_dead()
    }
}

/// Of whom an echo reply is, its number, and what it carries.
fn reply(packet: &[u8], to: u16) -> Option<(Ipv4Addr, u16, &[u8])> {
    let ip = ipv4::Packet::new_checked(packet).ok()?;
    match icmp::Repr::parse(ip.payload()) {
        Ok(icmp::Repr::EchoReply { ident, seq, data }) if ident == to => Some((ip.src(), seq, data)),
        _ => None,
    }
}

/// Rounds of requests: in each, all addresses are asked, and one answer is enough.
#[derive(Default)]
struct Rounds {
    next: Time,
    ident: u16,
    cookie: [u8; COOKIE],
    /// Of the last round.
    seq: u16,
    /// Whether an answer is missed if none came.
    asked: bool,
    answered: bool,
    /// How many rounds in a row have been without an answer.
    missed: u32,
    is_up: bool,
}

impl Rounds {
    fn new(drawn: u64) -> Self {
        let (ident, cookie) = ((drawn >> 16) as u16, drawn.to_be_bytes());
        Self { ident, cookie, is_up: true, ..Self::default() }
    }

    fn follow(&mut self, is_up: bool) {
        if self.is_up != is_up {
            (self.is_up, self.asked, self.missed) = (is_up, false, 0);
        }
    }

    /// Begins the next round, if it is time: what is to be sent.
    fn begin(&mut self, now: Time, every: Span) -> Option<[u8; icmp::HEADER_LEN + COOKIE]> {
        if now < self.next {
            return None;
        }
        self.next = now + every;
        if self.asked && !self.answered {
            self.missed = self.missed.saturating_add(1);
        }
        (self.asked, self.answered) = (self.is_up, false);
        if !self.is_up {
            return None;
        }
        self.seq = self.seq.wrapping_add(1);
        let mut message = [0; icmp::HEADER_LEN + COOKIE];
        message[icmp::HEADER_LEN..].copy_from_slice(&self.cookie);
        icmp::emit_echo_request(&mut message, self.ident, self.seq);
        Some(message)
    }

    /// An answer to one of the last `misses` rounds says that the way is there; a slow link's comes after the next request.
    fn answer(&mut self, seq: u16, cookie: &[u8], misses: u32) {
        let is_recent = u32::from(self.seq.wrapping_sub(seq)) < misses;
        if self.asked && is_recent && cookie == self.cookie {
            (self.answered, self.missed) = (true, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERY: Span = Span::from_secs(2);

    /// Rounds after this many probes without an answer.
    fn after(rounds: u64) -> Rounds {
        let mut r = Rounds::new(0x0102_0304_0506_0708);
        for i in 0..rounds {
            assert!(r.begin(Time::ZERO + EVERY * i, EVERY).is_some());
        }
        r
    }

    #[test]
    fn each_round_without_an_answer_counts_once_and_one_answer_makes_good_for_all() {
        // The round that is under way misses nothing yet.
        assert_eq!([1, 2, 3, 4].map(|n| after(n).missed), [0, 1, 2, 3]);
        let mut r = after(4);
        assert!(r.begin(Time::ZERO + EVERY * 3, EVERY).is_none(), "not before it is time");
        let cookie = r.cookie;
        r.answer(r.seq, &cookie, 3);
        assert_eq!(r.missed, 0);
        assert!(r.begin(Time::ZERO + EVERY * 4, EVERY).is_some());
        assert_eq!(r.missed, 0);
    }

    #[test]
    fn late_answers_count_and_old_or_forged_ones_do_not() {
        let cookie = after(1).cookie;
        for (back, cookie, counts) in [
            (0, cookie, true),
            (2, cookie, true),
            (3, cookie, false),
            (u16::MAX, cookie, false),
            (0, [0; COOKIE], false),
        ] {
            let mut r = after(5);
            r.answer(r.seq.wrapping_sub(back), &cookie, 3);
            assert_eq!(r.missed == 0, counts, "{back} {cookie:?}");
        }
    }

    #[test]
    fn while_the_uplink_is_down_nobody_is_asked_and_it_begins_anew() {
        let mut r = after(4);
        r.follow(false);
        assert!(r.begin(Time::ZERO + EVERY * 4, EVERY).is_none());
        let cookie = r.cookie;
        r.answer(r.seq, &cookie, 3);
        r.follow(true);
        assert!(r.begin(Time::ZERO + EVERY * 5, EVERY).is_some());
        assert_eq!(r.missed, 0);
    }

    #[test]
    fn a_request_is_the_one_of_rfc_792_and_its_answer_is_understood() {
        let mut r = after(0);
        let message = r.begin(Time::ZERO, EVERY).unwrap();
        let Ok(icmp::Repr::EchoRequest { ident, seq, data }) = icmp::Repr::parse(&message) else { panic!() };
        assert_eq!((ident, seq, data), (0x0506, 1, &r.cookie[..]));
        let host = Ipv4Addr::new(198, 51, 100, 1);
        let answer = icmp::Repr::EchoReply { ident, seq, data };
        let len = answer.buffer_len() as u16;
        let ip = ipv4::Repr::new(host, Ipv4Addr::new(192, 0, 2, 1), ipv4::protocol::ICMP, len);
        let mut packet = vec![0; ip.buffer_len()];
        ip.emit(&mut packet);
        packet.resize(ipv4::HEADER_LEN + usize::from(len), 0);
        answer.emit(&mut packet[ipv4::HEADER_LEN..]);
        assert_eq!(reply(&packet, ident), Some((host, 1, &r.cookie[..])));
        assert_eq!(reply(&packet, 7), None, "another program's");
        assert_eq!(reply(&packet[..30], ident), None);
    }
}
