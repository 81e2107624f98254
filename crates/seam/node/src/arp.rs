//! ARP (RFC 826): requests, answers, and what is learned from them.

use std::net::Ipv4Addr;

use wayhop_core::{Addr, Frame, IfaceId, Mac, Packet, Payload, Priority, Protocol, Reporting, Time};
use wayhop_wire::arp::{Operation, Repr};

use crate::node::Node;
use crate::rates::Counted;
use crate::world::{Stage, World};

impl<P: Protocol> Node<P> {
    /// A request for a neighbour's link address.
    pub(crate) fn arp_request<W: World>(
        &self,
        w: &mut W,
        at: Time,
        iface: IfaceId,
        target: Ipv4Addr,
    ) -> Frame {
        let sender = self.interfaces[iface.index()].addr.unwrap_or(self.addr);
        let repr = Repr::request(self.mac(iface), sender, target);
        self.arp_frame(w, at, repr, iface, (Addr::BROADCAST, Mac::BROADCAST))
    }

    /// Announces this node's link address after it changed; neighbours with the old one send to
    /// nobody (RFC 5227, section 3; RFC 4861, section 7.2.6). An interface that is down sends
    /// nothing: announce when it is up.
    pub fn announce<W: World>(&mut self, w: &mut W, at: Time, iface: IfaceId) {
        if !self.is_up || !self.interfaces[iface.index()].is_up {
            return;
        }
        let frame = self.arp_request(w, at, iface, self.addr);
        self.go_on(w, at, frame);
        if let Some(own) = self.addr6() {
            let frame = self.advertisement_to_all(w, at, iface, own);
            self.go_on(w, at, frame);
        }
        self.settle(w, at);
    }

    pub(crate) fn arp_frame<W: World>(
        &self,
        w: &mut W,
        at: Time,
        repr: Repr,
        iface: IfaceId,
        to: (Addr, Mac),
    ) -> Frame {
        let mut packet = w.workspace().new_packet(at, repr.buffer_len());
        repr.emit(packet.bytes_mut());
        self.own_frame(packet, Payload::Arp, iface, to)
    }

    /// A frame of the node itself, such as a question for a link address. No engine gets a report about it.
    pub(crate) fn own_frame(
        &self,
        packet: Packet,
        payload: Payload,
        iface: IfaceId,
        (next_hop, receiver): (Addr, Mac),
    ) -> Frame {
        let (priority, reporting, life) = (Priority::Data, Reporting::Nobody, self.life);
        Frame { packet, payload, iface, next_hop, receiver, priority, reporting, life }
    }

    /// An ARP packet arrived: everyone who hears it learns the sender's address (as BSD and ns-2 do), and the one who is
    /// asked answers.
    pub fn receive_arp<W: World>(&mut self, w: &mut W, at: Time, iface: IfaceId, bytes: &[u8]) {
        let Ok(heard) = Repr::parse(bytes) else { return };
        let own = self.interfaces[iface.index()].addr;
        if !self.is_up || heard.sender == self.addr || Some(heard.sender) == own {
            return;
        }
        let is_new = self.lacks_mac_of(iface, heard.sender.into());
        self.is_at(w, at, iface, heard.sender.into(), heard.sender_mac);
        if heard.operation == Operation::Request
            && (heard.target == self.addr
                || Some(heard.target) == own
                || self.aliases.contains(&heard.target))
            && self.may_answer(at, iface, heard.sender.into())
            && let Some(late) = self.interfaces[iface.index()].lateness(at, heard.sender.into(), is_new)
        {
            let reply = heard.reply(self.mac(iface));
            let frame = self.arp_frame(w, at, reply, iface, (heard.sender.into(), heard.sender_mac));
            self.go_on(w, at + late, frame);
        }
        self.settle(w, at);
    }

    /// Whether a neighbour has asked no more often than it may.
    fn may_answer(&mut self, at: Time, iface: IfaceId, neighbour: Addr) -> bool {
        let iface = &mut self.interfaces[iface.index()];
        iface.config.limits.arp_per_neighbour == 0 || iface.admits(at, neighbour, Counted::Arp)
    }

    /// A neighbour's link address is known: what waited for it goes on.
    pub fn learn<W: World>(&mut self, w: &mut W, at: Time, iface: IfaceId, neighbour: Addr, mac: Mac) {
        self.is_at(w, at, iface, neighbour, mac);
        self.settle(w, at);
    }

    pub(crate) fn is_at<W: World>(&mut self, w: &mut W, at: Time, iface: IfaceId, neighbour: Addr, mac: Mac) {
        for frame in self.interfaces[iface.index()].learn(neighbour, mac) {
            self.go_on(w, at, frame);
        }
    }

    /// A frame whose receiver is known goes to the queue.
    pub(crate) fn go_on<W: World>(&mut self, w: &mut W, at: Time, frame: Frame) {
        match self.interfaces[frame.iface.index()].config.link_delay {
            Some(delay) => w.schedule_frame(at + delay, Stage::Enqueue, frame),
            None => self.enqueue(w, at, frame),
        }
    }
}
