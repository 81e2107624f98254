//! Which neighbours a node opens sessions with, and how neighbours learn of it.

use std::net::{IpAddr, SocketAddr};

use wayhop_core::{ApplicationCx, StreamId, Time};

use super::layer::Layer;
use super::open_node::{CALL_AGAIN, MAX_SESSIONS, OpenNode};
use super::session::{NeighbourSession, OpenSession};
use super::settings::Settings;
use crate::agent::ContactId;
use crate::beacon::{Beacon, Port};
use crate::cl::{Session, ltp, tcpcl, udpcl};
use crate::eid::Eid;
use crate::store::Store;

/// TCPCLv4: a KEEPALIVE as often as this, seconds, so that a neighbour that went is missed.
const KEEPALIVE_S: u16 = 5;

impl<S: Store> OpenNode<S> {
    /// Tells a neighbour of this node.
    pub(super) fn say_hello(&self, cx: &mut ApplicationCx<'_>, to: IpAddr) {
        if self.settings.beacon.is_some() {
            let port = self.settings.ports.beacon;
            cx.send(port, SocketAddr::new(to, port), self.own_beacon());
        }
    }

    pub(super) fn own_beacon(&self) -> Vec<u8> {
        let Settings { ports, engine, .. } = &self.settings;
        let port = |layer: &Layer| match layer {
            Layer::Udpcl => Port::Udpcl(ports.udpcl),
            Layer::Ltp => Port::Ltp(ports.ltp, *engine),
            Layer::Tcpcl => Port::Tcpcl(ports.tcpcl),
        };
        let interval = self.settings.beacon.map_or(0, |b| b.as_millis().div_ceil(1_000));
        Beacon {
            node: self.settings.agent.node.clone(),
            interval_s: u16::try_from(interval).unwrap_or(u16::MAX),
            routing: self.routing,
            ports: self.settings.listens.iter().map(port).collect(),
        }
        .encode()
    }

    /// A configuration names a neighbour that is always there.
    pub(super) fn peer(&mut self, cx: &mut ApplicationCx<'_>, node: Eid, layer: Layer, at: SocketAddr) {
        self.neighbours.fix(cx.now(), node, layer, at);
        self.meet(cx, at.ip());
    }

    /// Makes sure that there is a session with a neighbour.
    pub(super) fn meet(&mut self, cx: &mut ApplicationCx<'_>, at: IpAddr) {
        let now = cx.now();
        let Some(n) = self.neighbours.all.get(&at) else { return };
        let peer = n.node.clone();
        let has = |layer| n.port(layer).map(|port| (layer, SocketAddr::new(at, port)));
        let Some((layer, to)) = has(self.settings.layer)
            .or_else(|| [Layer::Tcpcl, Layer::Ltp, Layer::Udpcl].into_iter().find_map(has))
        else {
            return;
        };
        if layer == Layer::Tcpcl {
            return self.call(cx, at, to, &peer);
        }
        if peer.is_none() {
            return;
        }
        let is_same =
            |s: &OpenSession| matches!(s.link, NeighbourSession::Udp(l, to) if l == layer && to.ip() == at);
        let old = self.sessions.iter().find(|(_, s)| is_same(s)).map(|(id, s)| (*id, s.peer == peer));
        match old {
            Some((_, true)) => {}
            Some((id, false)) => {
                // Until now nobody had told who is there, or there is somebody else.
                if let Some(open) = self.sessions.get_mut(&id) {
                    open.session.lost(now);
                    open.link = NeighbourSession::Udp(layer, SocketAddr::new(at, 0));
                }
                self.hear_sessions(cx);
                self.sessions.remove(&id);
                self.open_udp(now, layer, to, peer);
            }
            None => drop(self.open_udp(now, layer, to, peer)),
        }
    }

    /// Opens a stream to a neighbour unless there is one, or it is for the neighbour to do it: of two nodes that know each other
    /// that with the lesser name does.
    fn call(&mut self, cx: &mut ApplicationCx<'_>, at: IpAddr, to: SocketAddr, peer: &Eid) {
        let is_there = |s: &OpenSession| {
            matches!(s.link, NeighbourSession::Tcp(..))
                && (s.link.ip() == at || !peer.is_none() && s.peer == *peer)
        };
        let is_theirs = !peer.is_none()
            && *peer < self.settings.agent.node
            && self.neighbours.all.get(&at).is_some_and(|n| n.has_beacons);
        if self.sessions.values().any(is_there) || is_theirs {
            return;
        }
        let Some(n) = self.neighbours.all.get_mut(&at) else { return };
        if n.called.is_some_and(|last| cx.now().since(last) < CALL_AGAIN) {
            return;
        }
        n.called = Some(cx.now());
        // So that the other end knows who calls.
        self.say_hello(cx, at);
        cx.connect(self.next_stream, to);
        self.next_stream += 1;
    }

    pub(super) fn open_udp(
        &mut self,
        now: Time,
        layer: Layer,
        to: SocketAddr,
        peer: Eid,
    ) -> Option<ContactId> {
        let s = &self.settings;
        let session: Box<dyn Session + Send> = match layer {
            Layer::Udpcl => Box::new(udpcl::Udpcl::new(s.datagram)),
            _ => Box::new(ltp::Ltp::new(ltp::LtpConfig {
                segment: s.datagram,
                retransmit_after: s.ltp_wait,
                tries: 5,
                block: s.agent.limits.adu_octets,
                ..ltp::LtpConfig::new(s.engine, self.ltp_numbers.clone())
            })),
        };
        self.add_session(OpenSession::new(now, session, NeighbourSession::Udp(layer, to), peer))
    }

    /// A stream is there: one that the node opened, or one that came.
    pub(super) fn open_tcp(
        &mut self,
        cx: &mut ApplicationCx<'_>,
        stream: StreamId,
        ip: IpAddr,
        is_active: bool,
    ) {
        let config = tcpcl::TcpclConfig {
            node: self.settings.agent.node.clone(),
            keepalive_s: KEEPALIVE_S,
            segment: 64 << 10,
            transfer: self.settings.agent.limits.adu_octets,
        };
        let session = Box::new(tcpcl::Tcpcl::new(config, is_active, cx.now()));
        let open = OpenSession::new(cx.now(), session, NeighbourSession::Tcp(stream, ip), Eid::None);
        if self.add_session(open).is_none() {
            cx.close(stream);
        }
    }

    fn add_session(&mut self, open: OpenSession) -> Option<ContactId> {
        if self.sessions.len() >= MAX_SESSIONS {
            return None;
        }
        let id = ContactId(self.next_contact);
        self.next_contact += 1;
        self.sessions.insert(id, open);
        Some(id)
    }

    /// A neighbour is gone.
    pub(super) fn part(&mut self, now: Time, at: IpAddr) {
        for open in self.sessions.values_mut().filter(|s| s.link.ip() == at) {
            open.session.lost(now);
        }
    }
}
