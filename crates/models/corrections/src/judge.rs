//! Which corrections are accepted: anyone in the mesh can send to the group.

use std::fmt;
use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use wayhop_wire::rtcm3::Frame;

/// After so much silence of the sender, another may take its place.
const SILENCE: Duration = Duration::from_secs(30);
/// What a receiver's serial line takes in a second: 115,200 bits at ten an octet, a little less. A station sends a tenth of it.
const OCTETS_PER_S: f64 = 10_000.0;
/// What may come at once.
const BURST: f64 = 20_000.0;

/// Why a datagram is not believed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// It is not made of whole RTCM 3 frames.
    NotCorrections,
    /// It comes from another node than the one that is followed, or is to be.
    OtherSender(Ipv4Addr),
    /// It is of another reference station than is wanted.
    OtherStation(u16),
    /// More than a receiver can take.
    TooMuch,
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotCorrections => f.write_str("not RTCM 3"),
            Self::OtherSender(followed) => write!(f, "corrections of {followed} are used"),
            Self::OtherStation(n) => write!(f, "it is of reference station {n}"),
            Self::TooMuch => f.write_str("exceeds what a receiver can process"),
        }
    }
}

/// Whom to believe, and what is known so far. It does no I/O.
#[derive(Debug)]
pub(crate) struct Judge {
    from: Option<Ipv4Addr>,
    station: Option<u16>,
    followed: Option<(Ipv4Addr, Instant)>,
    budget: f64,
    counted: Instant,
}

impl Judge {
    /// One that believes this sender only, and this station only, if there are such.
    pub(crate) fn new(from: Option<Ipv4Addr>, station: Option<u16>, now: Instant) -> Self {
        Self { from, station, followed: None, budget: BURST, counted: now }
    }

    /// Judges a datagram; how many frames it has.
    pub(crate) fn take(&mut self, datagram: &[u8], from: Ipv4Addr, now: Instant) -> Result<u64, Rejection> {
        let followed =
            self.followed.filter(|(_, heard)| now.duration_since(*heard) < SILENCE).map(|(a, _)| a);
        if let Some(only) = self.from.or(followed).filter(|only| *only != from) {
            return Err(Rejection::OtherSender(only));
        }
        let mut frames = 0;
        let mut rest = datagram;
        while !rest.is_empty() {
            let frame = Frame::new_checked(rest).map_err(|_| Rejection::NotCorrections)?;
            match (self.station, frame.station()) {
                (Some(wanted), Some(other)) if wanted != other => return Err(Rejection::OtherStation(other)),
                _ => {}
            }
            frames += 1;
            rest = &rest[frame.bytes().len()..];
        }
        if frames == 0 {
            return Err(Rejection::NotCorrections);
        }
        let earned = now.duration_since(self.counted).as_secs_f64() * OCTETS_PER_S;
        (self.budget, self.counted) = ((self.budget + earned).min(BURST), now);
        if self.budget < datagram.len() as f64 {
            return Err(Rejection::TooMuch);
        }
        self.budget -= datagram.len() as f64;
        self.followed = Some((from, now));
        Ok(frames)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RTCM 10403.1, section 4.2: station 2003.
    const EXAMPLE: [u8; 25] = [
        0xd3, 0x00, 0x13, 0x3e, 0xd7, 0xd3, 0x02, 0x02, 0x98, 0x0e, 0xde, 0xef, 0x34, 0xb4, 0xbd, 0x62, 0xac,
        0x09, 0x41, 0x98, 0x6f, 0x33, 0x36, 0x0b, 0x98,
    ];
    const BASE: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
    const OTHER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

    #[test]
    fn one_sender_is_followed_until_it_is_silent() {
        let t = Instant::now();
        let s = Duration::from_secs;
        let mut judge = Judge::new(None, None, t);
        assert_eq!(
            judge.take(b"hello", OTHER, t),
            Err(Rejection::NotCorrections),
            "which makes nobody the sender"
        );
        assert_eq!(judge.take(&[EXAMPLE, EXAMPLE].concat(), BASE, t), Ok(2));
        assert_eq!(judge.take(&EXAMPLE, OTHER, t + s(29)), Err(Rejection::OtherSender(BASE)));
        assert_eq!(judge.take(&EXAMPLE, OTHER, t + s(31)), Ok(1));
        assert_eq!(judge.take(&EXAMPLE, BASE, t + s(32)), Err(Rejection::OtherSender(OTHER)));
        let mut judge = Judge::new(Some(BASE), None, t);
        assert_eq!(judge.take(&EXAMPLE, OTHER, t), Err(Rejection::OtherSender(BASE)));
    }

    #[test]
    fn other_stations_damage_and_too_much_are_refused_as_a_whole() {
        let t = Instant::now();
        let mut judge = Judge::new(None, Some(2003), t);
        assert_eq!(judge.take(&EXAMPLE, BASE, t), Ok(1));
        assert_eq!(Judge::new(None, Some(7), t).take(&EXAMPLE, BASE, t), Err(Rejection::OtherStation(2003)));
        let mut damaged = [EXAMPLE, EXAMPLE].concat();
        damaged[30] ^= 1;
        assert_eq!(judge.take(&damaged, BASE, t), Err(Rejection::NotCorrections));
        assert_eq!(judge.take(&[&EXAMPLE[..], b"x"].concat(), BASE, t), Err(Rejection::NotCorrections));
        assert_eq!(judge.take(&[], BASE, t), Err(Rejection::NotCorrections));
        let much = EXAMPLE.repeat(40);
        let taken = (0..100).filter(|_| judge.take(&much, BASE, t).is_ok()).count();
        // 20,000 bytes at once, without 25 of them.
        assert_eq!(taken, 19);
        assert_eq!(
            judge.take(&much, BASE, t + Duration::from_secs(1)),
            Ok(40),
            "and a second later there is room again"
        );
    }
}
