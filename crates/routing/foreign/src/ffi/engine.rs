//! A library's engine behind the trait of all protocols.

use core::ffi::{c_char, c_void};
use core::fmt::Display;
use core::ptr;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use wayhop_core::{
    Addr, Command, Cx, DataPlane, Fix, HeldPackets, IfaceId, Inspect, Interests, LinkChange, NodeContext,
    Packet, Protocol, Refused, RouteUse, RxMeta, Time, TimerKey, TxReport, TxStatus,
};

use super::abi::{
    RawAddr, RawCommand, RawCx, RawFix, RawInspector, RawLibrary, RawNode, RawPacket, RawRouteUse, RawRx,
    RawTxReport,
};
use super::call::{Call, enter};
use super::host::{HOST, say};
use super::library::Library;
use super::run::Run;
use super::text::{items, text, written};
use super::values::Values;
use crate::packets::Packets;
use crate::progress::Callback;
use crate::{fault, names};

/// One node's engine.
pub(crate) struct Engine {
    library: &'static Library,
    values: Arc<Values>,
    node: NodeContext,
    /// Made when it starts.
    running: Option<Running>,
}

struct Running {
    /// What `create` returned.
    raw: *mut c_void,
    _run: Arc<Run>,
    packets: Packets,
    /// When it was called last, nanoseconds.
    last_ns: u64,
}

// SAFETY: the library gets `raw` under `call::enter` alone, which makes its calls one after the other.
unsafe impl Send for Running {}

/// Where packets are that an engine has and does not report.
const LEAKED: &str = "leaked";

impl Engine {
    pub(crate) fn new(library: &'static Library, values: Arc<Values>, node: NodeContext) -> Self {
        Self { library, values, node, running: None }
    }

    /// Makes the library's side.
    fn create(&self, cx: &Cx<'_>) -> Running {
        let run = Run::of(self.library, &self.values, &self.node);
        let node = RawNode {
            size: size_of::<RawNode>() as u32,
            node: self.node.node,
            addr: Addr::from(cx.addr()).into(),
            addr6: cx.addr6().map_or_else(RawAddr::default, |a| Addr::from(a).into()),
            prefix_length: self.node.prefix_len,
            interfaces: self.node.interfaces,
            reserved: [0; 2],
            life: run.next_life(self.node.node),
            now_ns: cx.now().as_nanos(),
            host: &raw const HOST,
            values: self.values.raw(),
            json: self.values.json(),
        };
        let mut problem = [0_u8; 512];
        let raw = match self.library.raw.create {
            Some(create) => {
                let _entered =
                    enter(self.library.number, Callback::Create, self.node.node, node.now_ns, None);
                let buffer = problem.as_mut_ptr().cast::<c_char>();
                // SAFETY: a function of this type, and valid pointers.
                unsafe { create(run.raw, &raw const node, buffer, problem.len()) }
            }
            None => ptr::null_mut(),
        };
        if raw.is_null() {
            fault::end(&format!("created no engine for node {}: {}", self.node.node, written(&problem)));
        }
        Running { raw, _run: run, packets: Packets::new(self.node.node + 1), last_ns: node.now_ns }
    }

    /// Tells the user once of packets that an engine has and does not report.
    fn say_leaks(&self, now_ns: u64) {
        static IS_SAID: AtomicBool = AtomicBool::new(false);
        let mut held = HeldPackets::default();
        self.inspect(Time::from_nanos(now_ns), &mut held);
        let leaks = held.0.iter().filter(|(place, _)| *place == LEAKED).count();
        if leaks > 0 && !IS_SAID.swap(true, Ordering::Relaxed) {
            say(&format!(
                "{}: the engine of node {} leaked packets ({leaks}): pass each to wayhop_send, _deliver, _drop or \
                 _consume, or report it in inspect (other nodes may leak, too)",
                self.library.path, self.node.node
            ));
        }
    }

    /// Calls the library with a context. Returns whether it refused a command.
    #[inline]
    fn call(
        &mut self,
        cx: &mut Cx<'_>,
        callback: Callback,
        f: impl FnOnce(&RawLibrary, *mut c_void, *mut Call<'_, '_>),
    ) -> bool {
        let Some(running) = &mut self.running else { return true };
        running.last_ns = cx.now().as_nanos();
        let mut call = Call::new(cx, &mut running.packets, self.node.node, self.node.interfaces);
        let context = &raw mut call;
        let entered = enter(
            self.library.number,
            callback,
            self.node.node,
            running.last_ns,
            Some(context.cast::<RawCx>()),
        );
        f(&self.library.raw, running.raw, context);
        drop(entered);
        if let Some(what) = call.fault.take() {
            fault::end(&what);
        }
        call.has_refused
    }
}

impl Protocol for Engine {
    fn data_plane(&self) -> DataPlane {
        self.library.facts.plane
    }
    fn interests(&self) -> Interests {
        let wanted = self.library.facts.interests;
        let raw = &self.library.raw;
        Interests {
            overhear: wanted.overhear && raw.overheard.is_some(),
            route_used: wanted.route_used && raw.route_used.is_some(),
            position: wanted.position.filter(|_| raw.position.is_some()),
            ..wanted
        }
    }

    fn start(&mut self, cx: &mut Cx<'_>) {
        self.running = Some(self.create(cx));
        self.call(cx, Callback::Start, |library, engine, context| {
            if let Some(start) = library.start {
                // SAFETY: a function of this type, its engine, and the context of this call, as in all of the following.
                unsafe { start(engine, context.cast()) };
            }
        });
    }
    fn on_outbound(&mut self, cx: &mut Cx<'_>, p: Packet) {
        self.call(cx, Callback::Outbound, |library, engine, context| {
            if let Some(outbound) = library.outbound {
                // SAFETY: as above; nothing else uses the context until the library does.
                unsafe { outbound(engine, context.cast(), (*context).add(p)) };
            }
        });
    }
    fn on_frame(&mut self, cx: &mut Cx<'_>, p: Packet, rx: &RxMeta) {
        let rx = raw_rx(rx);
        self.call(cx, Callback::Frame, |library, engine, context| {
            if let Some(frame) = library.frame {
                // SAFETY: as above.
                unsafe { frame(engine, context.cast(), (*context).add(p), &raw const rx) };
            }
        });
    }
    fn on_overheard(&mut self, cx: &mut Cx<'_>, p: &[u8], next_hop: Addr, rx: &RxMeta) {
        let (rx, next_hop) = (raw_rx(rx), RawAddr::from(next_hop));
        self.call(cx, Callback::Overheard, |library, engine, context| {
            if let Some(overheard) = library.overheard {
                let (at, length) = (p.as_ptr(), p.len());
                // SAFETY: as above.
                unsafe { overheard(engine, context.cast(), at, length, &raw const next_hop, &raw const rx) };
            }
        });
    }
    fn on_tx_status(&mut self, cx: &mut Cx<'_>, report: TxReport) {
        let TxReport { id, next_hop, iface, status, packet } = report;
        let (status, tries) = match status {
            TxStatus::Acked => (0, 0),
            TxStatus::NoAck { tries } => (1, tries),
            TxStatus::QueueFull => (2, 0),
            TxStatus::Recalled => (3, 0),
            TxStatus::Unknown => (4, 0),
        };
        let mut report = RawTxReport {
            report: id.map_or(0, |id| id.0),
            packet: RawPacket::default(),
            next_hop: next_hop.into(),
            status,
            tries,
            iface: iface.0,
            has_report: u8::from(id.is_some()),
            reserved: [0; 4],
        };
        self.call(cx, Callback::TxStatus, |library, engine, context| {
            if let Some(tx_status) = library.tx_status {
                // SAFETY: as above.
                unsafe {
                    if let Some(p) = packet {
                        report.packet = (*context).add(p);
                    }
                    tx_status(engine, context.cast(), &raw const report);
                }
            }
        });
    }
    fn on_timer(&mut self, cx: &mut Cx<'_>, key: TimerKey) {
        self.call(cx, Callback::Timer, |library, engine, context| {
            if let Some(timer) = library.timer {
                // SAFETY: as above.
                unsafe { timer(engine, context.cast(), key.0) };
            }
        });
    }
    fn on_route_used(&mut self, cx: &mut Cx<'_>, used: &RouteUse) {
        let used = RawRouteUse {
            source: used.source.into(),
            destination: used.destination.into(),
            next_hop: used.next_hop.into(),
            previous_hop: used.previous_hop.unwrap_or_default().into(),
            iface: used.iface.0,
            has_previous_hop: u8::from(used.previous_hop.is_some()),
            reserved: [0; 6],
        };
        self.call(cx, Callback::RouteUsed, |library, engine, context| {
            if let Some(route_used) = library.route_used {
                // SAFETY: as above.
                unsafe { route_used(engine, context.cast(), &raw const used) };
            }
        });
    }
    fn on_link(&mut self, cx: &mut Cx<'_>, iface: IfaceId, change: LinkChange) {
        let change = match change {
            LinkChange::Up => 0,
            LinkChange::Down => 1,
            LinkChange::Changed => 2,
        };
        self.call(cx, Callback::Link, |library, engine, context| {
            if let Some(link) = library.link {
                // SAFETY: as above.
                unsafe { link(engine, context.cast(), u32::from(iface.0), change) };
            }
        });
    }
    fn on_position(&mut self, cx: &mut Cx<'_>, fix: &Fix) {
        let fix = RawFix::from(fix);
        self.call(cx, Callback::Position, |library, engine, context| {
            if let Some(position) = library.position {
                // SAFETY: as above.
                unsafe { position(engine, context.cast(), &raw const fix) };
            }
        });
    }
    fn on_command(&mut self, cx: &mut Cx<'_>, command: &Command) -> Result<(), Refused> {
        let name = &self.library.facts.name;
        let new = match command {
            Command::PurgeRoutes { .. } => None,
            Command::SetParameters { json } => {
                let map = self.library.facts.changed(json, self.values.map()).map_err(Refused)?;
                Some(Arc::new(Values::new(map, &self.library.facts.parameters)))
            }
            _ => return Err(Refused(format!("{name} does not support the command {command:?}"))),
        };
        if self.library.raw.command.is_none() {
            return Err(Refused(format!("{name} does not support commands")));
        }
        let values = Arc::clone(new.as_ref().unwrap_or(&self.values));
        let destination = match command {
            Command::PurgeRoutes { destination } => *destination,
            _ => None,
        };
        let raw = RawCommand {
            kind: u32::from(new.is_some()),
            has_destination: u32::from(destination.is_some()),
            destination: destination.unwrap_or_default().into(),
            values: values.raw(),
            json: values.json(),
        };
        let has_refused = self.call(cx, Callback::Command, |library, engine, context| {
            if let Some(command) = library.command {
                // SAFETY: as above.
                unsafe { command(engine, context.cast(), &raw const raw) };
            }
        });
        if new.is_some() && !has_refused {
            // What the library was given before stays valid.
            let old = core::mem::replace(&mut self.values, values);
            core::mem::forget(old);
        }
        Ok(())
    }

    fn inspect(&self, now: Time, out: &mut dyn Inspect) {
        let Some(running) = &self.running else { return };
        let mut seen = BTreeSet::new();
        if let Some(inspect) = self.library.raw.inspect {
            let mut inspection = Inspection {
                raw: RawInspector { size: size_of::<RawInspector>() as u32, reserved: 0, row, held },
                out: &mut *out,
                packets: &running.packets,
                seen: &mut seen,
            };
            let context = &raw mut inspection;
            let entered = enter(
                self.library.number,
                Callback::Inspect,
                self.node.node,
                now.as_nanos(),
                Some(context.cast()),
            );
            // SAFETY: a function of this type, its engine, and an inspector that lives as long as the call.
            unsafe { inspect(running.raw, now.as_nanos(), context.cast()) };
            drop(entered);
        }
        for (handle, packet) in running.packets.all() {
            if !seen.contains(&handle) {
                out.held(LEAKED, packet);
            }
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let Some(running) = &self.running else { return };
        self.say_leaks(running.last_ns);
        if let Some(destroy) = self.library.raw.destroy {
            let _entered =
                enter(self.library.number, Callback::Destroy, self.node.node, running.last_ns, None);
            // SAFETY: a function of this type, and its engine, which is not used again.
            unsafe { destroy(running.raw) };
        }
    }
}

fn raw_rx(rx: &RxMeta) -> RawRx {
    RawRx {
        from: rx.from.into(),
        signal_dbm: rx.signal_dbm,
        noise_dbm: rx.noise_dbm,
        rate_kbps: rx.rate_kbps,
        iface: rx.iface.0,
        broadcast: u8::from(rx.broadcast),
        reserved: [0; 2],
    }
}

/// What C gets as `const wayhop_inspector *`.
#[repr(C)]
struct Inspection<'a> {
    raw: RawInspector,
    out: &'a mut dyn Inspect,
    packets: &'a Packets,
    /// Handles of the packets that were reported.
    seen: &'a mut BTreeSet<u64>,
}

unsafe extern "C" fn row(
    inspector: *const RawInspector,
    table: *const c_char,
    columns: *const *const c_char,
    values: *const *const c_char,
    count: usize,
) {
    // SAFETY: the inspector is the one of this call, which nothing else uses meanwhile; `wayhop.h` demands texts and arrays.
    unsafe {
        let inspection = &mut *inspector.cast_mut().cast::<Inspection<'_>>();
        let name = |p: &*const c_char| text(*p).map_or("", |t| names::name(&t));
        let (columns, values) = (items(columns, count), items(values, count));
        let values: Vec<_> = values.iter().map(|v| text(*v).unwrap_or_default()).collect();
        let fields: Vec<(&'static str, &dyn Display)> =
            columns.iter().map(name).zip(values.iter().map(|v| v as &dyn Display)).collect();
        inspection.out.row(name(&table), &fields);
    }
}

unsafe extern "C" fn held(inspector: *const RawInspector, place: *const c_char, p: RawPacket) {
    // SAFETY: as above.
    let (inspection, place) = unsafe {
        (&mut *inspector.cast_mut().cast::<Inspection<'_>>(), text(place).map_or("held", |t| names::name(&t)))
    };
    match inspection.packets.look(p.handle) {
        Some(packet) if inspection.seen.insert(p.handle) => inspection.out.held(place, packet),
        Some(_) => {}
        None => say("inspect reported a packet that the engine does not have"),
    }
}
