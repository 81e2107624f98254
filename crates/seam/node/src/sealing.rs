//! Routing packets are sealed where they leave the node and opened where they come in, if the node has keys.

use std::net::Ipv4Addr;

use wayhop_auth::{Auth, Verdict};
use wayhop_core::{
    Addr, DropReason, Frame, IfaceId, Mac, Packet, PacketMeta, Payload, Priority, Protocol, RxMeta, Span,
    Time, TxStatus,
};

use crate::authentic::Authentic;
use crate::node::Node;
use crate::world::{Stage, World};

/// Seals a frame that leaves by an interface with this link address; one that is sealed stays as it is.
fn seal_with(auth: &mut Auth, mac: Mac, frame: &mut Frame) {
    if frame.payload.is_resolution() {
        return;
    }
    if auth.is_empty_exchange(frame.packet.bytes()) {
        auth.seal_exchange(frame.iface, &mut frame.packet, mac);
    } else if let Some(receiver) = frame.next_hop.v4() {
        auth.seal(&mut frame.packet, mac, receiver);
    }
}

impl<P> Node<P> {
    /// Gives the node keys. Before it begins.
    pub fn set_auth(&mut self, auth: Option<Auth>) {
        self.authentic = auth.map(|a| Box::new(Authentic::new(a)));
    }
    /// Its authentication, if it has keys.
    pub fn auth(&self) -> Option<&Auth> {
        self.authentic.as_ref().map(|a| &a.auth)
    }
    /// The same, to change the keys.
    pub fn auth_mut(&mut self) -> Option<&mut Auth> {
        self.authentic.as_mut().map(|a| &mut a.auth)
    }

    /// The link address from which a neighbour was verified.
    pub fn verified_mac(&self, iface: IfaceId, neighbour: Addr) -> Option<Mac> {
        self.interfaces[iface.index()].pinned(neighbour)
    }

    /// Seals a frame that leaves by its interface now.
    #[inline]
    pub(crate) fn seal(&mut self, frame: &mut Frame) {
        if let Some(a) = &mut self.authentic {
            seal_with(&mut a.auth, self.interfaces[frame.iface.index()].mac, frame);
        }
    }
    /// Seals the next frames of an interface where they lie, for a medium that takes several of [`Node::queue`] before it pulls them.
    pub fn prepare(&mut self, iface: IfaceId, most: usize) {
        if let Some(a) = &mut self.authentic {
            let i = &mut self.interfaces[iface.index()];
            i.queue.iter_mut().take(most).for_each(|f| seal_with(&mut a.auth, i.mac, f));
        }
    }
    /// Whether a packet is an exchange that is filled as it leaves.
    #[inline]
    pub(crate) fn is_empty_exchange(&self, packet: &[u8]) -> bool {
        self.authentic.as_ref().is_some_and(|a| a.auth.is_empty_exchange(packet))
    }
    /// The packet of a frame that was not transmitted, as its engine knows it.
    #[inline]
    pub(crate) fn unseal(&self, packet: &mut Packet) {
        if let Some(a) = &self.authentic {
            a.auth.strip(packet);
        }
    }
    /// Octets that sealing will add to a packet.
    #[inline]
    pub(crate) fn seal_len(&self, packet: &[u8]) -> usize {
        self.authentic.as_ref().map_or(0, |a| a.auth.overhead(packet))
    }

    /// The link address of a transmitter where the medium does not tell it.
    fn mac_at(&self, transmitter: Option<Ipv4Addr>, iface: IfaceId) -> Mac {
        let segment = self.interfaces[iface.index()].config.segment;
        Mac::at_medium(transmitter.unwrap_or(Ipv4Addr::UNSPECIFIED), segment)
    }
}

impl<P: Protocol> Node<P> {
    /// Whether a packet from the medium is to be verified before an engine may see it.
    pub(crate) fn must_verify(&self, packet: &[u8]) -> bool {
        self.auth().is_some_and(|a| a.concerns(packet))
    }

    /// Opens a packet that must be verified. Gives back what an engine may see, with the transmitter that was verified.
    pub(crate) fn admit<W: World>(
        &mut self,
        w: &mut W,
        at: Time,
        mut p: Packet,
        mut rx: RxMeta,
        mac: Option<Mac>,
    ) -> Option<(Packet, RxMeta)> {
        let from =
            mac.unwrap_or_else(|| self.mac_at(self.auth().and_then(|a| a.claimed(p.bytes())), rx.iface));
        let to = if rx.broadcast { Ipv4Addr::BROADCAST } else { self.addr };
        let a = self.authentic.as_mut()?;
        let opened = a.auth.open(at, rx.iface, &mut p, from, to);
        if let Some(transmitter) = opened.transmitter {
            rx.from = transmitter.into();
        }
        let why = match opened.verdict {
            Verdict::Good => {
                self.verified_at(w, at, &rx, mac);
                return Some((p, rx));
            }
            Verdict::Missing => DropReason::AuthMissing,
            Verdict::Failed => DropReason::AuthFailed,
            Verdict::Replayed => DropReason::AuthReplay,
            Verdict::Unknown => {
                let may_wait = !w.accounts_for(&p);
                if may_wait {
                    a.wait(&opened, &p, rx);
                }
                self.schedule_exchange(w, at, rx.iface);
                if !may_wait {
                    self.drop_packet(w, at, p, DropReason::AuthUnknown);
                    return None;
                }
                w.workspace().pool.recycle(p);
                return None;
            }
            Verdict::Exchange { verifies } => {
                w.workspace().pool.recycle(p);
                self.schedule_exchange(w, at, rx.iface);
                if !verifies {
                    return None;
                }
                let waited = self.authentic.as_mut()?.waited(&opened);
                self.verified_at(w, at, &rx, mac);
                let waited = waited?;
                return Some((w.workspace().pool.packet(&waited.octets, waited.meta), waited.rx));
            }
        };
        self.drop_packet(w, at, p, why);
        None
    }

    /// A verified neighbour has this link address: ARP cannot say otherwise.
    fn verified_at<W: World>(&mut self, w: &mut W, at: Time, rx: &RxMeta, mac: Option<Mac>) {
        if let Some(mac) = mac {
            self.interfaces[rx.iface.index()].pin(rx.from, mac);
            self.is_at(w, at, rx.iface, rx.from, mac);
        }
    }

    /// Has an exchange enter the queue when it is time for one.
    fn schedule_exchange<W: World>(&mut self, w: &mut W, at: Time, iface: IfaceId) {
        let Some(a) = &mut self.authentic else { return };
        if !w.may_wait() {
            return;
        }
        let Some(due) = a.auth.next_exchange(iface) else { return };
        let mut packet = w.workspace().new_packet(at, 0);
        a.auth.write_exchange(&mut packet);
        let frame = self.own_frame(packet, Payload::Ip, iface, (Addr::BROADCAST, Mac::BROADCAST));
        let frame = Frame { priority: Priority::Control, ..frame };
        let delay = self.interfaces[iface.index()].config.link_delay.unwrap_or(Span::ZERO);
        w.schedule_frame(due.max(at) + delay, Stage::Resolve, frame);
    }

    /// The time of an exchange came. Gives the frame back if it is none, or is to enter the queue.
    pub(crate) fn exchange_due<W: World>(&mut self, w: &mut W, at: Time, frame: Frame) -> Option<Frame> {
        if !self.is_empty_exchange(frame.packet.bytes()) {
            return Some(frame);
        }
        let iface = frame.iface;
        if self.authentic.as_mut()?.auth.begin_exchange(at, iface) {
            return Some(frame);
        }
        w.workspace().pool.recycle(frame.packet);
        self.schedule_exchange(w, at, iface);
        None
    }

    /// The transmission of a frame ended well: of an exchange, its challenges are repeated after a while.
    pub(crate) fn exchange_sent<W: World>(&mut self, w: &mut W, at: Time, frame: &Frame) {
        let is_exchange =
            |a: &Authentic| frame.next_hop == Addr::BROADCAST && a.auth.is_exchange(frame.packet.bytes());
        if let Some(a) = self.authentic.as_mut().filter(|a| is_exchange(a)) {
            a.auth.end_exchange(at, frame.iface);
            self.schedule_exchange(w, at, frame.iface);
        }
    }

    /// A frame was not transmitted; its packet has no block.
    pub(crate) fn exchange_failed<W: World>(&mut self, w: &mut W, at: Time, frame: &Frame, status: TxStatus) {
        if !self.is_empty_exchange(frame.packet.bytes()) {
            return;
        }
        if let Some(a) = &mut self.authentic {
            if status == TxStatus::QueueFull {
                a.auth.refuse_exchange(at, frame.iface);
            } else {
                a.auth.clear_exchange(frame.iface);
            }
            self.schedule_exchange(w, at, frame.iface);
        }
    }

    /// What an engine may see of a packet that a neighbour sent to somebody else: a copy without its block, with the transmitter
    /// that was verified; `None` if it may not see it. Nobody is challenged for it.
    pub(crate) fn overheard_copy<W: World>(
        &mut self,
        w: &mut W,
        at: Time,
        packet: &[u8],
        next_hop: Addr,
        rx: &mut RxMeta,
        mac: Option<Mac>,
    ) -> Option<Packet> {
        let from = mac.unwrap_or_else(|| self.mac_at(self.auth().and_then(|a| a.claimed(packet)), rx.iface));
        let (a, receiver) = (self.authentic.as_mut()?, next_hop.v4()?);
        let mut p = w.workspace().pool.packet(packet, PacketMeta::default());
        let opened = a.auth.open(at, rx.iface, &mut p, from, receiver);
        if let (Verdict::Good, Some(transmitter)) = (opened.verdict, opened.transmitter) {
            rx.from = transmitter.into();
            return Some(p);
        }
        w.workspace().pool.recycle(p);
        None
    }
}
