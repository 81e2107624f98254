//! What sessions have to send, and when.

use std::net::SocketAddr;
use std::ops::Bound;

use wayhop_core::{ApplicationCx, Time};

use super::layer::Layer;
use super::open_node::OpenNode;
use super::session::NeighbourSession;
use crate::agent::ContactId;
use crate::store::Store;

impl<S: Store> OpenNode<S> {
    /// Gives the host what sessions have to send.
    pub(super) fn send(&mut self, cx: &mut ApplicationCx<'_>) {
        let now = cx.now();
        for open in self.sessions.values_mut() {
            let NeighbourSession::Tcp(stream, _) = open.link else { continue };
            while open.room > 0
                && let Some(octets) = open.session.transmit(now, open.room)
            {
                open.room = open.room.saturating_sub(octets.len());
                cx.write(stream, octets);
            }
        }
        self.is_held_up = false;
        loop {
            if self.pace.free_at > now {
                self.is_held_up = self.sessions.values().any(|s| matches!(s.link, NeighbourSession::Udp(..)));
                return;
            }
            let Some((layer, to, octets)) = self.next_datagram(now) else { return };
            self.pace.sent(now, octets.len());
            let ports = self.settings.ports;
            cx.send(if layer == Layer::Ltp { ports.ltp } else { ports.udpcl }, to, octets);
        }
    }

    /// The next datagram; sessions take turns.
    fn next_datagram(&mut self, now: Time) -> Option<(Layer, SocketAddr, Vec<u8>)> {
        let later: Vec<ContactId> =
            self.sessions.range((Bound::Excluded(self.turn), Bound::Unbounded)).map(|(id, _)| *id).collect();
        let earlier: Vec<ContactId> = self.sessions.range(..=self.turn).map(|(id, _)| *id).collect();
        for id in later.into_iter().chain(earlier) {
            let Some(open) = self.sessions.get_mut(&id) else { continue };
            let NeighbourSession::Udp(layer, to) = open.link else { continue };
            if let Some(octets) = open.session.transmit(now, self.settings.datagram) {
                self.turn = id;
                return Some((layer, to, octets));
            }
        }
        None
    }
}
