//! A node's application, whose handlers run in an interpreter.

use core::net::{IpAddr, SocketAddr};
use core::ptr;
use std::sync::Arc;

use serde_json::{Map, Value};
use wayhop_core::{Application, ApplicationCx, Ending, Fix, ProgramInput, StreamInput, Time, TimerKey};

use super::apply::apply;
use super::call::{Input, Kind};
use super::module::ApplicationModule;
use super::read::application_wishes;
use crate::names;
use crate::python::run::Run;
use crate::python::session::{Head, Session};

/// One node's application.
pub(super) struct PythonApplication {
    module: &'static ApplicationModule,
    values: Arc<Map<String, Value>>,
    /// On a real host, `None`.
    node: Option<u32>,
    /// Made when it starts.
    session: Option<Session>,
    /// When it was called last.
    last: Time,
}

impl PythonApplication {
    pub(super) fn new(
        module: &'static ApplicationModule,
        values: Arc<Map<String, Value>>,
        node: Option<u32>,
    ) -> Self {
        Self { module, values, node, session: None, last: Time::ZERO }
    }

    fn defines(&self, kind: Kind) -> bool {
        self.module.handlers & kind.bit() != 0
    }

    /// Calls a handler that the class may leave out.
    fn call_if_defined(&mut self, cx: &mut ApplicationCx<'_>, kind: Kind, input: &Input<'_>) {
        if self.defines(kind) {
            self.call(cx, kind, input);
        }
    }

    fn call(&mut self, cx: &mut ApplicationCx<'_>, kind: Kind, input: &Input<'_>) {
        let Some(session) = &mut self.session else { return };
        self.last = cx.now();
        let head = Head::new(kind as u8, self.last.as_nanos());
        session.write(head, cx.rng(), |out| input.write(out));
        let notes = self.module.notes;
        let made = session.make(
            cx,
            |cx| cx.rng(),
            |cx, effects| application_wishes(effects).try_for_each(|wish| apply(wish?, cx, notes)),
        );
        if let Err(what) = made {
            self.end_run(&what, kind);
        }
    }

    /// Calls a method without a context, and returns its answer.
    fn ask(&self, kind: Kind) -> Value {
        let Some(session) = &self.session else { return Value::Null };
        let answer = session.ask(Head::new(kind as u8, self.last.as_nanos()));
        answer.unwrap_or_else(|what| self.end_run(&what, kind))
    }

    /// Ends the run.
    fn end_run(&self, what: &str, kind: Kind) -> ! {
        let node = self.node.map_or_else(String::new, |node| format!(" of node {node}"));
        let at = self.last.as_nanos() as f64 / 1e9;
        self.module.source.end(&format!("{what} in {}{node} at {at:.6} s", kind.name()))
    }
}

impl Application for PythonApplication {
    fn start(&mut self, cx: &mut ApplicationCx<'_>) {
        if self.session.is_none() {
            let key = (ptr::from_ref(self.module).addr(), 0);
            self.session = Some(Session::begin(Run::of(&self.module.source, key)));
        }
        let values = Arc::clone(&self.values);
        let input = Input::Start(cx.addr(), self.node.unwrap_or(u32::MAX), &values);
        self.call(cx, Kind::Start, &input);
    }
    fn on_datagram(&mut self, cx: &mut ApplicationCx<'_>, port: u16, from: SocketAddr, data: &[u8]) {
        self.call_if_defined(cx, Kind::Datagram, &Input::Datagram(port, from, data));
    }
    fn on_timer(&mut self, cx: &mut ApplicationCx<'_>, key: TimerKey) {
        self.call_if_defined(cx, Kind::Timer, &Input::Timer(key.0));
    }
    fn on_position(&mut self, cx: &mut ApplicationCx<'_>, fix: &Fix) {
        self.call_if_defined(cx, Kind::Position, &Input::Position(fix));
    }
    fn on_stream(&mut self, cx: &mut ApplicationCx<'_>, input: StreamInput<'_>) {
        self.call_if_defined(cx, Kind::Stream, &Input::Stream(&input));
    }
    fn on_program(&mut self, cx: &mut ApplicationCx<'_>, input: ProgramInput) {
        // Its answers to a program that is gone are lost anyway.
        let ProgramInput::Command { program, message } = input else { return };
        self.call_if_defined(cx, Kind::Command, &Input::Command(program, &message.head, &message.data));
    }
    fn on_neighbours(&mut self, cx: &mut ApplicationCx<'_>, all: &[IpAddr]) {
        self.call_if_defined(cx, Kind::Neighbours, &Input::Neighbours(all));
    }
    fn on_resume(&mut self, cx: &mut ApplicationCx<'_>) {
        self.call_if_defined(cx, Kind::Resume, &Input::Nothing);
    }
    fn end(&mut self, cx: &mut ApplicationCx<'_>, ending: Ending) {
        self.call_if_defined(cx, Kind::End, &Input::End { in_order: ending == Ending::InOrder });
    }
    fn restart(&mut self) {
        self.ask(Kind::Restart);
    }
    fn figures(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        if !self.defines(Kind::Figures) {
            return;
        }
        let figures = self.ask(Kind::Figures);
        for (name, value) in figures.as_object().into_iter().flatten() {
            if let Some(value) = value.as_f64() {
                tell(names::name(name), value);
            }
        }
    }
}

impl Drop for PythonApplication {
    fn drop(&mut self) {
        if let Some(session) = &mut self.session {
            session.end(Kind::Gone as u8);
        }
    }
}
