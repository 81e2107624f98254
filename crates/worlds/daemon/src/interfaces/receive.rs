//! Receiving from the interfaces, and the status of transmissions.

use wayhop_core::{IfaceId, Mac};
use wayhop_linux::ebpf::ForwardingPrograms;
use wayhop_linux::netlink::NeighbourNews;
use wayhop_linux::packet_socket::ETHERNET;
use wayhop_linux::syscalls::BATCH;
use wayhop_trace::Direction;

use crate::interfaces::mesh_interface::MeshInterfaces;
use crate::log::Log;
use crate::node::clock::NodeClock;
use crate::node::host::Host;
use crate::record::captures::{Captures, now_ns};

impl MeshInterfaces {
    /// Ignores whom the macfilter says from now on.
    pub(crate) fn ignore(&mut self, host: &Host, log: &Log) {
        let Some(ignored) = self.macfilter.run_due(host.now()) else { return };
        for program in self.all.iter().filter_map(|a| a.programs.ignoring.as_ref()) {
            program.ignore(ignored);
        }
        let names: Vec<String> = ignored.iter().map(Mac::to_string).collect();
        let whom = if names.is_empty() { "nobody".to_owned() } else { names.join(" ") };
        log.info(format_args!("ignores {whom}"));
    }

    /// Takes a batch of frames from an interface. Returns whether there were any.
    pub(crate) fn take_frames(
        &mut self,
        i: usize,
        host: &mut Host,
        captures: &mut Captures,
        clock: NodeClock,
    ) -> bool {
        let iface = IfaceId(i as u8);
        let n = self.all[i].sockets.receive();
        if n == 0 {
            return false;
        }
        // They may have come since the turn began, on a busy host long after it: at the time of the turn, they would have been
        // received before they were sent.
        host.at(clock.now());
        if !host.node.is_up() {
            // The radio is off.
            self.all[i].sockets.received();
            return true;
        }
        if let Some(t) = &mut host.timing {
            t.received(n, self.all[i].sockets.arrival(0));
        }
        for k in 0..n {
            let frame = self.all[i].sockets.frame(k);
            if !frame.own && !self.macfilter.ignores(frame.bytes) {
                let signal_dbm = host.signal_of(frame.bytes);
                if !captures.frame(now_ns(), iface, [frame.bytes, &[]], Direction::Rx, signal_dbm) {
                    host.around.counters.capture_drops += 1;
                }
                host.frame_in(iface, frame.bytes, frame.for_other, signal_dbm);
            }
            if host.is_nearly_full() {
                self.push_all(host, captures);
            }
        }
        self.all[i].sockets.received();
        true
    }

    /// Hears what became of an interface's frames.
    pub(crate) fn take_fates(&mut self, i: usize, host: &mut Host, log: &Log) {
        let iface = IfaceId(i as u8);
        if !host.line(iface).tx_statuses.is_watching() {
            return;
        }
        while let Some((packet, acked)) = self.all[i].sockets.tx_status() {
            host.tx_status(iface, packet, acked);
        }
        if let Some(news) = host.line(iface).tx_statuses.news() {
            log.info(news);
        }
    }

    /// Takes ARP messages from an interface.
    pub(crate) fn take_arp(&mut self, i: usize, host: &mut Host) {
        let iface = IfaceId(i as u8);
        let (own, macfilter) = (&mut self.all[i], &self.macfilter);
        let kernel_answers = own.programs.closed.is_none();
        let mut take = |frame: &[u8]| {
            if !macfilter.ignores(frame) {
                host.arp_in(iface, frame.get(ETHERNET..).unwrap_or_default(), kernel_answers);
            }
        };
        for _ in 0..BATCH {
            if !own.sockets.receive_arp(&mut take) {
                break;
            }
        }
    }

    /// Hears of neighbours that the kernel does not find.
    pub(crate) fn take_missing(&mut self, host: &mut Host) {
        for (index, neighbour) in self.missing.iter().flat_map(NeighbourNews::take) {
            if let Some((iface, _)) = (0..).zip(&self.all).find(|(_, a)| a.facts.index == index) {
                host.not_found(IfaceId(iface), neighbour);
            }
        }
    }

    /// Hears with which power neighbours are received.
    pub(crate) fn take_signals(&mut self, host: &mut Host) {
        for (map, source) in host.signals.iter_mut().zip(&mut self.signals) {
            if let Some(news) = source.news() {
                *map = news;
            }
        }
    }

    /// Whether the kernel tells which of its routes are used.
    pub(crate) fn are_watched(&self) -> bool {
        self.all.iter().any(|a| a.programs.forwarding.is_some())
    }

    /// Tells the protocol which routes of the kernel were used.
    pub(crate) fn report_usage(&self, host: &mut Host) {
        let programs = self.all.iter().filter_map(|a| a.programs.forwarding.as_ref());
        for passed in programs.flat_map(ForwardingPrograms::take) {
            host.route_used(passed.source, passed.destination, passed.transmitter);
        }
    }
}
