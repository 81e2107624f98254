//! A node's engine, whose handlers run in an interpreter.

use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use core::fmt::Display;
use serde_json::{Map, Value};
use wayhop_core::{
    Addr, Cx, DataPlane, DropReason, Fix, IfaceId, Inspect, Interests, LinkChange, NodeContext, Packet,
    Protocol, RouteUse, RxMeta, Time, TimerKey, TxReport, TxStatus,
};

use super::apply::{Packets, apply};
use super::call::{Input, Kind};
use super::module::Module;
use super::read::wishes;
use super::run::Run;
use super::session::{Head, Session};
use crate::names;

/// Where packets are that the module's objects refer to, and where those that nothing refers to.
const HELD: &str = "python";
const LEAKED: &str = "leaked";

/// One node's engine.
pub(super) struct Engine {
    module: &'static Module,
    values: Arc<Map<String, Value>>,
    node: NodeContext,
    /// Made when it starts.
    running: Option<Running>,
}

struct Running {
    session: Session,
    packets: Packets,
    /// The last handle that a packet got. Handles contain the engine's number; those of copies, which Python makes, are odd.
    handle: u64,
}

impl Running {
    fn next_handle(&mut self) -> u64 {
        self.handle += 2;
        self.handle
    }

    /// Writes a call.
    fn write(&mut self, cx: &mut Cx<'_>, kind: Kind, input: &Input<'_>) {
        let (now_ns, queued) = (cx.now().as_nanos(), cx.queue_len());
        let head = Head { kind: kind as u8, now_ns, queued, acknowledges: cx.interface().acknowledges };
        self.session.write(head, cx.rng(), |out| input.write(out));
    }

    /// Makes the call that was written. The error is a phrase whose subject is the module.
    fn make(&mut self, cx: &mut Cx<'_>, interfaces: u8) -> Result<(), String> {
        let packets = &mut self.packets;
        self.session.make(
            cx,
            |cx| cx.rng(),
            |cx, effects| wishes(effects).try_for_each(|wish| apply(&wish?, cx, packets, interfaces)),
        )
    }
}

impl Engine {
    pub(super) fn new(module: &'static Module, values: Arc<Map<String, Value>>, node: NodeContext) -> Self {
        Self { module, values, node, running: None }
    }

    /// Calls a handler with an input, and with a packet that it may keep.
    fn call(&mut self, cx: &mut Cx<'_>, kind: Kind, input: &Input<'_>) {
        if let Some(running) = &mut self.running {
            running.write(cx, kind, input);
        }
        self.make(cx, kind);
    }

    /// The same; the input is made with the packet and its new handle.
    fn call_with(
        &mut self,
        cx: &mut Cx<'_>,
        kind: Kind,
        packet: Packet,
        input: impl for<'a> FnOnce(u64, &'a [u8]) -> Input<'a>,
    ) {
        if let Some(running) = &mut self.running {
            let handle = running.next_handle();
            running.write(cx, kind, &input(handle, packet.bytes()));
            running.packets.insert(handle, packet);
        }
        self.make(cx, kind);
    }

    fn make(&mut self, cx: &mut Cx<'_>, kind: Kind) {
        let Some(running) = &mut self.running else { return };
        if let Err(what) = running.make(cx, self.node.interfaces) {
            self.end(&what, kind, cx.now());
        }
    }

    /// Ends the run.
    fn end(&self, what: &str, kind: Kind, now: Time) -> ! {
        let (node, at) = (self.node.node, now.as_nanos() as f64 / 1e9);
        self.module.source.end(&format!("{what} in {} of node {node} at {at:.6} s", kind.name()))
    }

    fn defines(&self, kind: Kind) -> bool {
        self.module.handlers & kind.bit() != 0
    }

    /// Tells the user once of packets that no object of the module refers to.
    fn say_leaks(&self, leaks: usize) {
        static IS_SAID: AtomicBool = AtomicBool::new(false);
        if leaks > 0 && !IS_SAID.swap(true, Ordering::Relaxed) {
            let (path, node) = (&self.module.source.shown, self.node.node);
            let _ = writeln!(
                io::stderr(),
                "wayhop: {path}: node {node} lost packets ({leaks}): send, deliver, drop or consume each, or keep it in an \
                 attribute (other nodes may lose some, too)"
            );
        }
    }

    /// Rows of tables, and handles of the packets that the module still has.
    fn look(&self, running: &Running, now: Time) -> Value {
        let seen = running.session.ask(Head::new(Kind::Inspect as u8, now.as_nanos()));
        seen.unwrap_or_else(|what| self.end(&what, Kind::Inspect, now))
    }
}

impl Protocol for Engine {
    fn data_plane(&self) -> DataPlane {
        self.module.facts.plane
    }
    fn interests(&self) -> Interests {
        self.module.facts.interests
    }

    fn start(&mut self, cx: &mut Cx<'_>) {
        let key = (Arc::as_ptr(&self.values).addr(), self.node.seed);
        let session = Session::begin(Run::of(&self.module.source, key));
        let handle = u64::from(session.number()) << 40;
        self.running = Some(Running { session, packets: Packets::new(), handle });
        let values = Arc::clone(&self.values);
        let NodeContext { node, interfaces, prefix_len, .. } = self.node;
        let input = Input::Start { addr: cx.addr(), node, interfaces, prefix_len, values: &values };
        self.call(cx, Kind::Start, &input);
    }
    fn on_outbound(&mut self, cx: &mut Cx<'_>, p: Packet) {
        if self.defines(Kind::Outbound) {
            self.call_with(cx, Kind::Outbound, p, |handle, octets| Input::Packet(handle, octets));
        } else {
            cx.drop(p, DropReason::NoRoute);
        }
    }
    fn on_frame(&mut self, cx: &mut Cx<'_>, p: Packet, rx: &RxMeta) {
        if self.defines(Kind::Frame) {
            self.call_with(cx, Kind::Frame, p, |handle, octets| Input::Frame(*rx, handle, octets));
        } else {
            cx.drop(p, DropReason::NoListener);
        }
    }
    fn on_overheard(&mut self, cx: &mut Cx<'_>, p: &[u8], next_hop: Addr, rx: &RxMeta) {
        self.call(cx, Kind::Overheard, &Input::Overheard(*rx, next_hop, p));
    }
    fn on_tx_status(&mut self, cx: &mut Cx<'_>, report: TxReport) {
        let TxReport { id, next_hop, iface, status, packet } = report;
        let reason = match status {
            TxStatus::QueueFull => DropReason::QueueFull,
            TxStatus::Recalled => DropReason::NoRoute,
            _ => DropReason::MacRetries,
        };
        match (self.defines(Kind::TxStatus), packet) {
            (true, Some(p)) => self.call_with(cx, Kind::TxStatus, p, |handle, octets| Input::TxStatus {
                id,
                next_hop,
                iface,
                status,
                handle,
                octets,
            }),
            (true, None) => {
                let input = Input::TxStatus { id, next_hop, iface, status, handle: 0, octets: &[] };
                self.call(cx, Kind::TxStatus, &input);
            }
            (false, Some(p)) => cx.drop(p, reason),
            (false, None) => {}
        }
    }
    fn on_timer(&mut self, cx: &mut Cx<'_>, key: TimerKey) {
        if self.defines(Kind::Timer) {
            self.call(cx, Kind::Timer, &Input::Timer(key.0));
        }
    }
    fn on_route_used(&mut self, cx: &mut Cx<'_>, used: &RouteUse) {
        self.call(cx, Kind::RouteUsed, &Input::RouteUsed(*used));
    }
    fn on_link(&mut self, cx: &mut Cx<'_>, iface: IfaceId, change: LinkChange) {
        if self.defines(Kind::Link) {
            self.call(cx, Kind::Link, &Input::Link(iface, change));
        }
    }
    fn on_position(&mut self, cx: &mut Cx<'_>, fix: &Fix) {
        self.call(cx, Kind::Position, &Input::Position(*fix));
    }

    fn inspect(&self, now: Time, out: &mut dyn Inspect) {
        let Some(running) = &self.running else { return };
        if running.packets.is_empty() && !self.defines(Kind::Inspect) {
            return;
        }
        let seen = self.look(running, now);
        for row in seen["rows"].as_array().into_iter().flatten() {
            let table = names::name(row[0].as_str().unwrap_or_default());
            let columns = row[1].as_object().into_iter().flatten();
            let columns: Vec<(&'static str, &str)> =
                columns.map(|(k, v)| (names::name(k), v.as_str().unwrap_or_default())).collect();
            let fields: Vec<(&'static str, &dyn Display)> =
                columns.iter().map(|(k, v)| (*k, v as &dyn Display)).collect();
            out.row(table, &fields);
        }
        let alive: BTreeSet<u64> =
            seen["held"].as_array().into_iter().flatten().filter_map(Value::as_u64).collect();
        let mut leaks = 0;
        for (handle, packet) in &running.packets {
            let is_alive = alive.contains(handle);
            leaks += usize::from(!is_alive);
            out.held(if is_alive { HELD } else { LEAKED }, packet);
        }
        self.say_leaks(leaks);
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        if let Some(running) = &mut self.running {
            running.session.end(Kind::End as u8);
        }
    }
}
