//! The loop over the events of a run with several threads.

use std::io;
use std::ops::ControlFlow;

use wayhop_core::{Span, Time};
use wayhop_node::{Above as _, World as _};
use wayhop_radio::{Bounds, RadioEvent};
use wayhop_trace::PacketClass;

use super::task::Task;
use super::world::Request;
use super::{Area, LEAST_RECEIVERS, MOST_POSTPONED, Threads};
use crate::buckets::{QueuedEvent, node_of, time_of};
use crate::classify::PacketFacts;
use crate::common::Common;
use crate::event::Event;
use crate::net::Net;
use crate::simulation::{CHECK_EVERY, Simulation};
use crate::world::SimulationWorld;

/// When an event is handled.
enum Turn {
    Now,
    /// When a task has been collected.
    AfterTask,
    /// After some that follow it and do not depend on it.
    Later(Area),
}

impl Simulation {
    /// Has this number of threads handle the receivers of broadcasts, besides the run's own. The run is the same with any number.
    /// Only where [`crate::why_one_thread`] has no objection, and before the run begins.
    ///
    /// # Errors
    /// The system starts no more threads.
    pub fn use_threads(&mut self, others: usize) -> io::Result<()> {
        if others > 0 {
            self.threads = Some(Box::new(Threads::start(others, self.media.first_radio().bounds())?));
            self.net.common.row_order = Some(Box::default());
        }
        Ok(())
    }

    /// How many broadcasts other threads have handled, or could have.
    pub fn broadcasts_by_threads(&self) -> u64 {
        self.threads.as_ref().map_or(0, |threads| threads.tasks)
    }

    /// [`Simulation::run_until`] with several threads.
    pub(crate) fn run_with(
        &mut self,
        threads: &mut Threads,
        end: Time,
        watch: &mut dyn FnMut(Time) -> ControlFlow<()>,
    ) -> bool {
        let mut goes_on = true;
        while goes_on {
            let Some(next) = self.net.common.queue.peek_until(end) else {
                if threads.under_way.is_empty() {
                    break;
                }
                self.collect(threads);
                continue;
            };
            match self.turn(threads, &next) {
                Turn::Now => goes_on = self.handle(threads, end, watch),
                Turn::AfterTask => self.collect(threads),
                Turn::Later(area) => {
                    self.net.common.queue.pop();
                    threads.postponed.push((next, area));
                    self.expect_from(threads);
                }
            }
        }
        self.even_out(threads);
        if goes_on {
            self.now = end;
        }
        goes_on
    }

    /// Handles what was left out before the latest event, so that the run is as one with one thread is.
    fn even_out(&mut self, threads: &mut Threads) {
        while !threads.under_way.is_empty() {
            self.collect(threads);
        }
        while let Some(QueuedEvent { key, event }) = self.net.common.queue.peek_until(time_of(threads.latest))
        {
            if key > threads.latest {
                break;
            }
            self.net.common.queue.pop();
            self.handle_here(key, event);
        }
        self.write_rows(u128::MAX);
    }

    /// Handles an event in this thread.
    fn handle_here(&mut self, key: u128, event: Event) {
        self.begin_rows(key);
        self.advance(time_of(key), node_of(key), event);
        self.end_rows();
    }

    /// The rows of an event begin, and end.
    fn begin_rows(&mut self, key: u128) {
        if let Some(order) = &mut self.net.common.row_order {
            order.begin(key);
        }
    }
    fn end_rows(&mut self) {
        let Common { row_order, work, .. } = &mut self.net.common;
        if let Some(order) = row_order {
            order.note_made(work.next_id);
        }
    }

    /// Handles the next event, or hands it over. Returns false to break off.
    fn handle(
        &mut self,
        threads: &mut Threads,
        end: Time,
        watch: &mut dyn FnMut(Time) -> ControlFlow<()>,
    ) -> bool {
        let Some(next) = self.net.common.queue.pop() else { return true };
        let QueuedEvent { key, event } = next;
        threads.latest = threads.latest.max(key);
        self.look_ahead();
        if let Event::Up(handle) = event
            && let Some((facts, class)) = self.shareable(handle)
            && let Some(area) = self.area(threads, &next)
        {
            self.begin_rows(key);
            let mut task = threads.spare.pop().unwrap_or_else(|| Task::new(facts, class));
            (task.key, task.facts, task.class) = (key, facts, class);
            self.hand_over(threads, task, area, handle);
            self.end_rows();
            self.events += 1;
        } else {
            self.handle_here(key, event);
        }
        if self.net.common.row_order.as_ref().is_some_and(|order| order.is_due()) {
            let next = self.net.common.queue.peek_until(end).map_or(u128::MAX, |next| next.key);
            self.write_rows(threads.earliest().map_or(next, |key| key.min(next)));
        }
        if !self.events.is_multiple_of(CHECK_EVERY) {
            return true;
        }
        self.keep_up();
        !self.net.common.recorder.failed() && watch(time_of(key)).is_continue()
    }

    /// When the next event is handled.
    fn turn(&self, threads: &Threads, next: &QueuedEvent<Event>) -> Turn {
        if threads.under_way.is_empty() {
            return Turn::Now;
        }
        match self.area(threads, next) {
            Some(_) if threads.is_full() => Turn::AfterTask,
            Some(area) if !threads.is_bound(&area) => Turn::Now,
            Some(area) if threads.postponed.len() < MOST_POSTPONED => Turn::Later(area),
            _ => Turn::AfterTask,
        }
    }

    /// What an event changes; `None` if that may be anywhere.
    fn area(&self, threads: &Threads, next: &QueuedEvent<Event>) -> Option<Area> {
        let (at, node) = (time_of(next.key), node_of(next.key));
        let radio = self.media.first_radio();
        if at >= self.next_look || radio.renews_places(at) {
            return None;
        }
        let Bounds { decoded_m, sensed_m, idle, .. } = threads.bounds;
        let (node, reach_m) = match next.event {
            Event::Radio(_, RadioEvent::Battery | RadioEvent::Jam | RadioEvent::Beacon) => return None,
            Event::Radio(_, event) => {
                (node, if radio.changes_others(at, node, event) { sensed_m } else { 0.0 })
            }
            Event::Up(handle) => (self.net.common.rx_pending.get(handle).sender, decoded_m),
            Event::Timer(..) | Event::Down(..) | Event::Resolution(_) | Event::Application(..) => (node, 0.0),
            _ => return None,
        };
        let idle = if matches!(next.event, Event::Up(_)) { idle } else { Span::ZERO };
        Some(Area { at, place: radio.renewed_place(node), reach_m, idle_until: at + idle })
    }

    /// What a packet is whose receivers can be a task.
    fn shareable(&mut self, handle: u32) -> Option<(PacketFacts, PacketClass)> {
        let Common { rx_pending, read, .. } = &mut self.net.common;
        let arrivals = rx_pending.get(handle);
        if arrivals.receivers.len() < LEAST_RECEIVERS
            || arrivals.header.is_some()
            || arrivals.packet.meta.flow.is_some()
        {
            return None;
        }
        let facts = read.facts(&arrivals.packet);
        let class = facts.control.filter(|class| matches!(class, PacketClass::Control(_)))?;
        Some((facts, class))
    }

    /// Makes a packet's receivers a task.
    fn hand_over(&mut self, threads: &mut Threads, mut task: Task, area: Area, handle: u32) {
        let mut arrivals = self.net.common.rx_pending.take(handle);
        let net = &mut self.net;
        arrivals.receivers.iter().for_each(|r| net.ensure_awake(r.node));
        task.set_number(threads.tasks);
        let first = &arrivals.receivers[0];
        task.transmitter = net.transmitter(first.node, arrivals.packet.bytes(), &first.rx);
        net.common.work.pool.share(&mut task.work.pool, arrivals.receivers.len());
        task.members.extend(arrivals.receivers.drain(..).map(|r| (net.nodes.lend(r.node), r)));
        task.packet = Some(arrivals.packet);
        net.common.spare_receivers.push(arrivals.receivers);
        threads.post(task, area);
        self.expect_from(threads);
    }

    /// Tells the radio how early the next event may be.
    fn expect_from(&mut self, threads: &Threads) {
        self.media.first_radio_mut().expect_from(threads.earliest().map_or(Time::NEVER, time_of));
    }

    /// Collects the task that was handed over first, and does what its receivers asked for. Postponed events are due again.
    fn collect(&mut self, threads: &mut Threads) {
        let mut task = threads.take();
        let made = task.made();
        let net = &mut self.net;
        for (node, r) in task.members.drain(..) {
            net.nodes.give_back(r.node, node);
        }
        let Common { row_order, work, arrived, .. } = &mut net.common;
        *arrived = task.facts;
        work.pool.share(&mut task.work.pool, 0);
        task.packet.take().into_iter().for_each(|packet| work.pool.recycle(packet));
        if let Some(order) = row_order {
            order.begin(task.key);
            order.note_made_by_task(task.first_id, made, &mut work.next_id);
        }
        for (node, request) in task.requests.drain(..) {
            net.fulfil(node, request);
        }
        threads.spare.push(task);
        threads.postponed.drain(..).for_each(|(event, _)| net.common.queue.put_back(event));
        self.expect_from(threads);
    }

    /// Writes the rows of events before this key. There are no further ones before it.
    pub(crate) fn write_rows(&mut self, end: u128) {
        let Common { row_order, recorder, ledger, .. } = &mut self.net.common;
        if let Some(order) = row_order {
            order.write_before(end, recorder, ledger);
        }
    }
}

impl Net {
    /// Does what a node of a task asked for.
    fn fulfil(&mut self, node: u32, request: Request) {
        let mut w = SimulationWorld { common: &mut self.common, node };
        match request {
            Request::Received(row) => w.common.hop(&row),
            Request::Record(at, packet, hop) => {
                w.record(at, &packet, hop);
                w.workspace().pool.recycle(packet);
            }
            Request::Note(at, note) => w.note(at, note),
            Request::State(at, state) => w.state(at, state),
            Request::Timer(at, engine, key) => w.schedule_timer(at, engine, key),
            Request::Frame(at, stage, frame) => w.schedule_frame(at, stage, frame),
            Request::Resolution(at, iface) => w.schedule_resolution(at, iface),
            Request::Deliver(at, packet) => w.deliver(at, packet),
            Request::Unreachable(at, packet, why) => w.unreachable(at, packet, why),
        }
    }
}
