//! What comes for the group, to the receiver.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::feed::Feed;
use crate::group::{BoundSocket, Group};
use crate::judge::Judge;

/// How often somebody who waits looks whether it is still wanted, and who wants corrections.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How often the interface is looked at.
const CHECK_EVERY: Duration = Duration::from_secs(1);
/// A longer datagram is not ours.
const LONGEST: usize = 2048;

/// A node with a receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rover {
    /// What it listens to.
    pub group: Group,
    /// Where its gpsd gets the corrections.
    pub feed: SocketAddr,
    /// The only node whose corrections are believed; without one, the first that is heard, as long as it is heard.
    pub from: Option<Ipv4Addr>,
    /// The only reference station that is believed.
    pub station: Option<u16>,
}

/// What was received.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct ReceiveStatistics {
    /// RTCM 3 frames that were passed on.
    pub frames: u64,
    /// In this many datagrams.
    pub datagrams: u64,
    /// Datagrams that were not believed.
    pub refused: u64,
}

/// Passes on what comes, until `stop` is raised. `tell` gets lines for people.
pub fn receive(
    rover: &Rover,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(&str),
) -> io::Result<ReceiveStatistics> {
    let mut feed = Feed::bind(rover.feed)?;
    let mut judge = Judge::new(rover.from, rover.station, Instant::now());
    let mut received = ReceiveStatistics::default();
    let mut socket: Option<BoundSocket> = None;
    let mut checked = Instant::now();
    let (mut sender, mut clients, mut away) = (None, 0, false);
    let mut octets = [0; LONGEST];
    while !stop.load(Ordering::Relaxed) {
        let there = feed.look();
        if there != clients {
            tell(&format!("{there} programs take corrections at {}", rover.feed));
            clients = there;
        }
        if checked.elapsed() >= CHECK_EVERY {
            checked = Instant::now();
            socket = socket.filter(|s| s.is_current(&rover.group));
        }
        let Some(bound) = &socket else {
            match rover.group.receiver(LOOK_EVERY) {
                Ok(bound) => socket = Some(bound),
                // A mesh comes and goes.
                Err(e) => {
                    if !away {
                        tell(&format!("waiting for {}: {e}", rover.group.interface));
                    }
                    thread::sleep(LOOK_EVERY);
                }
            }
            away = socket.is_none();
            continue;
        };
        let Ok((n, from)) = bound.socket.recv_from(&mut octets) else { continue };
        let IpAddr::V4(from) = from.ip() else { continue };
        match judge.take(&octets[..n], from, Instant::now()) {
            Ok(frames) => {
                received.frames += frames;
                received.datagrams += 1;
                feed.give(&octets[..n]);
                if sender.replace(from) != Some(from) {
                    tell(&format!("corrections come from {from}"));
                }
            }
            Err(why) => {
                received.refused += 1;
                // Rarely: a sender of one datagram can send a million.
                let count = received.refused;
                if count.is_power_of_two() {
                    tell(&format!("ignoring a datagram from {from}: {why} ({count} so far)"));
                }
            }
        }
    }
    Ok(received)
}
