//! Calling engines, and applying their effects.

use wayhop_core::{
    Addr, Command, Cx, DropReason, Effect, Fix, HopKind, IfaceId, Input, LinkChange, Packet, Prefix,
    Protocol, Refused, Route, Time, TimerKey, TxReport, TxSpec, TxStatus,
};
use wayhop_wire::had_no_route;

use crate::engine::Fired;
use crate::node::Node;
use crate::table::InstalledRoute;
use crate::world::{Hop, InputContext, World};

impl<P: Protocol> Node<P> {
    /// The node begins: its static routes, then its engines.
    pub fn start<W: World>(&mut self, w: &mut W, at: Time) {
        for i in 0..self.static_routes.len() {
            self.install(w, at, InstalledRoute::STATIC, self.static_routes[i]);
        }
        for e in 0..self.engines.len() as u8 {
            self.call(w, at, e, Input::Start);
        }
        self.tell_outside(w, at);
    }

    /// Where the node is. One that is down does not hear it.
    pub fn position<W: World>(&mut self, w: &mut W, at: Time, fix: &Fix) {
        if !self.is_up {
            return;
        }
        for e in 0..self.engines.len() as u8 {
            if self.engines[usize::from(e)].interests.position.is_some() {
                self.call(w, at, e, Input::Position(*fix));
            }
        }
    }

    /// An order for an engine.
    pub fn command<W: World>(
        &mut self,
        w: &mut W,
        at: Time,
        engine: u8,
        command: &Command,
    ) -> Result<(), Refused> {
        if !self.is_up {
            return Err(Refused("the node is down; try again when it is up".to_owned()));
        }
        self.call(w, at, engine, Input::Command(command.clone()));
        w.workspace().refused.take().map_or(Ok(()), Err)
    }

    /// An interface changed.
    pub(crate) fn tell_link<W: World>(&mut self, w: &mut W, at: Time, iface: IfaceId, change: LinkChange) {
        for e in 0..self.engines.len() as u8 {
            self.call(w, at, e, Input::Link(iface, change));
        }
    }

    /// A call that [`World::schedule_timer`] asked for, at its time or, on a real clock, a little later.
    pub fn timer<W: World>(&mut self, w: &mut W, at: Time, engine: u8, key: TimerKey) {
        if !self.is_up {
            return;
        }
        let Some(e) = self.engines.get_mut(usize::from(engine)) else { return };
        match e.fired(at, key) {
            Fired::Stale => {}
            Fired::Now => self.call(w, at, engine, Input::Timer(key)),
            Fired::Later(due) => w.schedule_timer(due, engine, key),
        }
    }

    /// Fires a timer that is due, in whatever order the world chooses: for hosts that keep no schedule.
    pub fn fire<W: World>(&mut self, w: &mut W, at: Time, engine: u8, key: TimerKey) {
        if self.engines[usize::from(engine)].remove_timer(key) {
            self.call(w, at, engine, Input::Timer(key));
        }
    }

    /// Calls an engine, applies its effects, and then gives the engines what these provoked.
    pub(crate) fn call<W: World>(&mut self, w: &mut W, at: Time, engine: u8, input: Input<'_>) {
        self.call_once(w, at, engine, input);
        self.settle(w, at);
    }

    /// Gives the engines what was provoked.
    #[inline]
    pub(crate) fn settle<W: World>(&mut self, w: &mut W, at: Time) {
        while let Some((engine, report)) = w.workspace().provoked.pop_front() {
            self.call_once(w, at, engine, Input::TxStatus(report));
        }
    }

    fn call_once<W: World>(&mut self, w: &mut W, at: Time, engine: u8, input: Input<'_>) {
        let at = at.max(self.clock);
        self.clock = at;
        let interface = self.interface_facts();
        let addr6 = self.addr6();
        let logs = w.logs_inputs();
        if logs {
            let next_id = w.workspace().next_id;
            let rng = &self.engines[usize::from(engine)].rng;
            let seen = InputContext { interface, exceptions: self.heard.exceptions(), next_id, rng };
            w.log_input(at, engine, &seen, &input);
        }
        let work = w.workspace();
        let mut effects = std::mem::take(&mut work.effects);
        let e = &mut self.engines[usize::from(engine)];
        let mut cx =
            Cx::new(at, self.addr, interface, &mut e.rng, &mut work.pool, &mut work.next_id, &mut effects)
                .with_addr6(addr6)
                .with_exceptions(self.heard.exceptions());
        e.protocol.on_input(&mut cx, input);
        if logs {
            w.log_effects(&effects);
        }
        // A packet that was overheard mostly leads to none, and a Hello to one.
        if effects.len() > 1 {
            for effect in effects.drain(..) {
                self.apply(w, at, engine, effect);
            }
        } else if let Some(effect) = effects.pop() {
            self.apply(w, at, engine, effect);
        }
        w.workspace().effects = effects;
    }

    fn apply<W: World>(&mut self, w: &mut W, at: Time, engine: u8, effect: Effect) {
        match effect {
            Effect::Send(p, spec) => self.send(w, at, engine, p, spec),
            Effect::Deliver(p) if self.edge.is_some() => self.deliver_or_leave(w, at, p),
            Effect::Deliver(p) => self.deliver(w, at, p),
            Effect::Drop(p, why) => self.drop_packet(w, at, p, why),
            Effect::Consume(p) => w.workspace().pool.recycle(p),
            Effect::SetTimer(key, when) => {
                let due = when.max(at);
                if self.engines[usize::from(engine)].set_timer(key, due) {
                    w.schedule_timer(due, engine, key);
                }
            }
            Effect::ClearTimer(key) => self.engines[usize::from(engine)].clear_timer(key),
            Effect::Open(opened) => self.sockets.open(engine, opened),
            Effect::Install(route) => self.install(w, at, engine, route),
            Effect::Uninstall(destination) => self.uninstall(w, at, engine, destination),
            Effect::ReplaceRoutes(routes) => self.replace_routes(w, at, engine, &routes),
            Effect::Recall(iface, next_hop) => self.recall(w, at, iface, next_hop),
            Effect::Note(note) => w.note(at, note),
            Effect::State(state) => w.state(at, state),
            Effect::Refuse(why) => w.workspace().refused = Some(why),
        }
    }

    fn install<W: World>(&mut self, w: &mut W, at: Time, owner: u8, route: Route) {
        if !w.admits(at, &route) {
            return;
        }
        let row = InstalledRoute { route, owner };
        self.table.install(row);
        if self.table.get(route.destination) == Some(row) {
            w.route_installed(at, &row);
        }
    }

    fn uninstall<W: World>(&mut self, w: &mut W, at: Time, owner: u8, destination: Prefix) {
        if self.table.remove(destination, owner) {
            match self.table.get(destination) {
                Some(next_best) => w.route_installed(at, &next_best),
                None => w.route_removed(at, destination),
            }
        }
    }

    fn replace_routes<W: World>(&mut self, w: &mut W, at: Time, owner: u8, routes: &[Route]) {
        for gone in self.table.owned(owner) {
            if !routes.iter().any(|r| r.destination == gone) {
                self.uninstall(w, at, owner, gone);
            }
        }
        for r in routes {
            if self.table.get(r.destination) != Some(InstalledRoute { route: *r, owner }) {
                self.install(w, at, owner, *r);
            }
        }
    }

    /// Takes out what waits for a neighbour.
    fn recall<W: World>(&mut self, w: &mut W, at: Time, iface: IfaceId, next_hop: Addr) {
        let mut taken = std::mem::take(&mut w.workspace().recalled);
        for (i, interface) in self.interfaces.iter_mut().enumerate() {
            if iface == IfaceId::ANY || iface.index() == i {
                w.recall(crate::interface::id(i), next_hop, &mut taken);
                interface.recall(next_hop, |f| taken.push(f));
            }
        }
        for frame in taken.drain(..) {
            self.failed(w, at, frame, TxStatus::Recalled);
        }
        w.workspace().recalled = taken;
    }

    fn send<W: World>(&mut self, w: &mut W, at: Time, engine: u8, packet: Packet, spec: TxSpec) {
        let reporting = spec
            .report
            .map_or(wayhop_core::Reporting::Nobody, |id| wayhop_core::Reporting::Engine(engine, id));
        self.send_down(w, at, packet, &spec, reporting);
    }

    /// Hands a packet to the applications of this node.
    pub(crate) fn deliver<W: World>(&mut self, w: &mut W, at: Time, p: Packet) {
        if !w.may_deliver(at, &p) {
            return self.drop_packet(w, at, p, DropReason::Policy);
        }
        if !w.listens(at, &p) {
            return self.drop_packet(w, at, p, DropReason::NoListener);
        }
        w.record(at, &p, Hop { kind: HopKind::Deliver, ..Hop::HERE });
        w.deliver(at, p);
    }

    /// Ends a packet.
    pub(crate) fn drop_packet<W: World>(&mut self, w: &mut W, at: Time, p: Packet, why: DropReason) {
        w.record(at, &p, Hop { kind: HopKind::Drop, reason: Some(why), ..Hop::HERE });
        if had_no_route(why) && (self.is_from_here(p.bytes()) || self.is_brought_by_host(p.bytes())) {
            w.unreachable(at, p, why);
        } else {
            if self.edge.is_some() && had_no_route(why) {
                self.tell_source_outside(w, at, p.bytes());
            }
            w.workspace().pool.recycle(p);
        }
    }

    /// The packet of this report goes to its engine after all effects at hand.
    pub(crate) fn provoke<W: World>(w: &mut W, engine: u8, report: TxReport) {
        w.workspace().provoked.push_back((engine, report));
    }
}

impl Hop {
    /// Something at this node, without a neighbour.
    pub const HERE: Self = Self {
        kind: HopKind::Originate,
        peer: Addr::UNSPECIFIED,
        iface: IfaceId::ANY,
        signal_dbm: f32::NAN,
        reason: None,
    };
}
