//! A GPS receiver in each node, for its daemon and for the usual clients of gpsd, with the
//! scenario's positions.

use std::io;
use std::net::TcpListener;
use std::time::SystemTime;

use wayhop_control::gpsd::Server;
use wayhop_core::{Span, Time};
use wayhop_linux::Error;
use wayhop_netns::Namespace;
use wayhop_scenario::Resolved;
use wayhop_world::Gps;

/// gpsd's address, in each node.
pub(super) const GPSD: &str = "127.0.0.1:2947";
/// A GPS receiver's rate.
const FIX_EVERY: Span = Span::from_secs(1);

/// The receivers of all nodes.
pub(super) struct Receivers {
    server: Server,
    gps: Gps,
    next: Time,
}

impl Receivers {
    /// Opens a receiver in each node.
    pub(super) fn open(scenario: &Resolved, namespaces: &[Namespace]) -> Result<Self, Error> {
        let listen = |n: &Namespace| n.within(|| TcpListener::bind(GPSD));
        let open = || -> io::Result<Server> {
            Server::serve(namespaces.iter().map(listen).collect::<io::Result<_>>()?)
        };
        let server = open().map_err(Error::system("open the nodes' GPS receivers"))?;
        Ok(Self { server, gps: Gps::new(scenario.origin), next: Time::ZERO })
    }

    /// Tells where the nodes are, once a second.
    pub(super) fn tell(&mut self, scenario: &Resolved, now: Time) {
        if now < self.next {
            return;
        }
        self.next = now + FIX_EVERY;
        let time = SystemTime::now();
        let legs = scenario.tracks.iter().map(|track| track.leg_at(now));
        let fixes: Vec<_> = legs.map(|leg| Some(self.gps.fix(&leg, now))).collect();
        self.server.set(&fixes, time);
    }
}
