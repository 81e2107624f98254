//! An application of a library behind the trait of all applications.

use core::ffi::{c_char, c_void};
use core::net::{IpAddr, SocketAddr};
use core::ptr;
use std::ffi::CString;
use std::sync::Arc;

use serde_json::Value;
use wayhop_core::{
    Addr, Application, ApplicationCx, Ending, Fix, ProgramInput, StreamEnd, StreamInput, TimerKey,
};

use super::abi::{RawAppCx, RawAppNode, RawApplication, RawCounters, RawEndpoint, RawStreamEvent};
use super::call::Call;
use super::library::ApplicationLibrary;
use crate::facts::is_name;
use crate::ffi::abi::{RawAddr, RawCx, RawFix};
use crate::ffi::call::enter;
use crate::ffi::host::HOST;
use crate::ffi::text::{text, written};
use crate::ffi::values::Values;
use crate::progress::Callback;
use crate::{fault, names};

/// One node's application.
pub(crate) struct LibraryApplication {
    library: &'static ApplicationLibrary,
    values: Arc<Values>,
    node: u32,
    /// What `create` returned; null before it starts, and without memory.
    raw: *mut c_void,
    /// When it was called last, nanoseconds.
    last_ns: u64,
}

// SAFETY: the library gets `raw` under `call::enter` alone, which makes its calls one after the other.
unsafe impl Send for LibraryApplication {}

impl LibraryApplication {
    pub(crate) fn new(library: &'static ApplicationLibrary, values: Arc<Values>, node: u32) -> Self {
        Self { library, values, node, raw: ptr::null_mut(), last_ns: 0 }
    }

    fn create(&mut self, cx: &ApplicationCx<'_>) {
        let node = RawAppNode {
            size: size_of::<RawAppNode>() as u32,
            node: self.node,
            addr: Addr::from(cx.addr()).into(),
            now_ns: cx.now().as_nanos(),
            host: &raw const HOST,
            values: self.values.raw(),
            json: self.values.json(),
        };
        let mut problem = [0_u8; 512];
        if let Some(create) = self.library.raw.create {
            let _entered = enter(self.library.number, Callback::Create, self.node, node.now_ns, None);
            // SAFETY: a function of this type, and valid pointers.
            self.raw =
                unsafe { create(&raw const node, problem.as_mut_ptr().cast::<c_char>(), problem.len()) };
        }
        if self.raw.is_null() {
            fault::end(&format!("created no application at {}: {}", cx.addr(), written(&problem)));
        }
    }

    fn destroy(&mut self) {
        let raw = core::mem::replace(&mut self.raw, ptr::null_mut());
        if let Some(destroy) = self.library.raw.destroy.filter(|_| !raw.is_null()) {
            let _entered = enter(self.library.number, Callback::Destroy, self.node, self.last_ns, None);
            // SAFETY: a function of this type, and its application, which is not used again.
            unsafe { destroy(raw) };
        }
    }

    /// Calls the library with a context.
    fn call(
        &mut self,
        cx: &mut ApplicationCx<'_>,
        callback: Callback,
        f: impl FnOnce(&RawApplication, *mut c_void, *const RawAppCx),
    ) {
        if self.raw.is_null() {
            return;
        }
        self.last_ns = cx.now().as_nanos();
        let mut call = Call::new(cx, self.library.notes);
        let context = &raw mut call;
        let entered =
            enter(self.library.number, callback, self.node, self.last_ns, Some(context.cast::<RawCx>()));
        f(&self.library.raw, self.raw, context.cast::<RawAppCx>().cast_const());
        drop(entered);
        if let Some(what) = call.fault.take() {
            fault::end(&what);
        }
    }
}

impl Application for LibraryApplication {
    fn start(&mut self, cx: &mut ApplicationCx<'_>) {
        if self.raw.is_null() {
            self.create(cx);
        }
        self.call(cx, Callback::Start, |library, app, context| {
            if let Some(start) = library.start {
                // SAFETY: a function of this type, its application, and the context of this call, as in all of the following.
                unsafe { start(app, context) };
            }
        });
    }
    fn on_datagram(&mut self, cx: &mut ApplicationCx<'_>, port: u16, from: SocketAddr, data: &[u8]) {
        let from = RawEndpoint::from(from);
        self.call(cx, Callback::Datagram, |library, app, context| {
            if let Some(datagram) = library.datagram {
                // SAFETY: as above.
                unsafe { datagram(app, context, port, &raw const from, data.as_ptr(), data.len()) };
            }
        });
    }
    fn on_timer(&mut self, cx: &mut ApplicationCx<'_>, key: TimerKey) {
        self.call(cx, Callback::Timer, |library, app, context| {
            if let Some(timer) = library.timer {
                // SAFETY: as above.
                unsafe { timer(app, context, key.0) };
            }
        });
    }
    fn on_position(&mut self, cx: &mut ApplicationCx<'_>, fix: &Fix) {
        let fix = RawFix::from(fix);
        self.call(cx, Callback::Position, |library, app, context| {
            if let Some(position) = library.position {
                // SAFETY: as above.
                unsafe { position(app, context, &raw const fix) };
            }
        });
    }
    fn on_stream(&mut self, cx: &mut ApplicationCx<'_>, input: StreamInput<'_>) {
        let event = raw_event(&input);
        self.call(cx, Callback::Stream, |library, app, context| {
            if let Some(stream) = library.stream {
                // SAFETY: as above; `input` has the data, and lives longer.
                unsafe { stream(app, context, &raw const event) };
            }
        });
    }
    fn on_program(&mut self, cx: &mut ApplicationCx<'_>, input: ProgramInput) {
        // Its answers to a program that is gone are lost anyway.
        let ProgramInput::Command { program, message } = input else { return };
        let json = CString::new(Value::Object(message.head).to_string()).unwrap_or_default();
        let data = message.data;
        self.call(cx, Callback::Command, |library, app, context| {
            if let Some(command) = library.command {
                // SAFETY: as above.
                unsafe { command(app, context, program, json.as_ptr(), data.as_ptr(), data.len()) };
            }
        });
    }
    fn on_neighbours(&mut self, cx: &mut ApplicationCx<'_>, all: &[IpAddr]) {
        let all: Vec<RawAddr> = all.iter().map(|a| Addr::from(*a).into()).collect();
        self.call(cx, Callback::Neighbours, |library, app, context| {
            if let Some(neighbours) = library.neighbours {
                // SAFETY: as above.
                unsafe { neighbours(app, context, all.as_ptr(), all.len()) };
            }
        });
    }
    fn on_resume(&mut self, cx: &mut ApplicationCx<'_>) {
        self.call(cx, Callback::Resume, |library, app, context| {
            if let Some(resume) = library.resume {
                // SAFETY: as above.
                unsafe { resume(app, context) };
            }
        });
    }
    fn end(&mut self, cx: &mut ApplicationCx<'_>, ending: Ending) {
        self.call(cx, Callback::End, |library, app, context| {
            if let Some(end) = library.end {
                // SAFETY: as above.
                unsafe { end(app, context, i32::from(ending == Ending::InOrder)) };
            }
        });
    }
    fn restart(&mut self) {
        match self.library.raw.restart.filter(|_| !self.raw.is_null()) {
            Some(restart) => {
                let _entered = enter(self.library.number, Callback::Restart, self.node, self.last_ns, None);
                // SAFETY: a function of this type, and its application.
                unsafe { restart(self.raw) };
            }
            None => self.destroy(),
        }
    }
    fn figures(&self, tell: &mut dyn FnMut(&'static str, f64)) {
        let Some(figures) = self.library.raw.figures.filter(|_| !self.raw.is_null()) else { return };
        let raw = RawCounters { size: size_of::<RawCounters>() as u32, reserved: 0, count };
        let mut counters = Counters { raw, tell, fault: None };
        let context = &raw mut counters;
        let entered = enter(
            self.library.number,
            Callback::Figures,
            self.node,
            self.last_ns,
            Some(context.cast::<RawCx>()),
        );
        // SAFETY: a function of this type, its application, and counters that live as long as the call.
        unsafe { figures(self.raw, context.cast::<RawCounters>().cast_const()) };
        drop(entered);
        if let Some(what) = counters.fault {
            fault::end(&what);
        }
    }
}

impl Drop for LibraryApplication {
    fn drop(&mut self) {
        self.destroy();
    }
}

fn raw_event(input: &StreamInput<'_>) -> RawStreamEvent {
    let (stream, kind) = match input {
        StreamInput::Accepted { stream, .. } => (stream, 0),
        StreamInput::Connected { stream, .. } => (stream, 1),
        StreamInput::Data { stream, .. } => (stream, 2),
        StreamInput::Pattern { stream, .. } => (stream, 3),
        StreamInput::Room { stream, .. } => (stream, 4),
        StreamInput::Closed { stream, .. } => (stream, 5),
    };
    let mut raw = RawStreamEvent {
        stream: (*stream).into(),
        kind,
        cause: 0,
        peer: RawEndpoint::default(),
        port: 0,
        reserved: [0; 6],
        data: ptr::null(),
        length: 0,
    };
    match input {
        StreamInput::Accepted { port, from, .. } => (raw.port, raw.peer) = (*port, (*from).into()),
        StreamInput::Connected { to, .. } => raw.peer = (*to).into(),
        StreamInput::Data { data, .. } => (raw.data, raw.length) = (data.as_ptr(), data.len()),
        StreamInput::Pattern { bytes, .. } => raw.length = *bytes as usize,
        StreamInput::Room { bytes, .. } => raw.length = *bytes,
        StreamInput::Closed { cause, .. } => {
            raw.cause = match cause {
                StreamEnd::Finished => 0,
                StreamEnd::Unreachable => 1,
                StreamEnd::Broken => 2,
            };
        }
    }
    raw
}

/// What C gets as `const wayhop_counters *`.
#[repr(C)]
struct Counters<'a> {
    raw: RawCounters,
    tell: &'a mut dyn FnMut(&'static str, f64),
    fault: Option<String>,
}

unsafe extern "C" fn count(counters: *const RawCounters, name: *const c_char, value: f64) {
    // SAFETY: they are those of this call, which nothing else uses meanwhile; `wayhop.h` demands a text.
    let (counters, name) =
        unsafe { (&mut *counters.cast_mut().cast::<Counters<'_>>(), text(name).unwrap_or_default()) };
    if !is_name(&name, "_") {
        let what = format!("counted under the name {name:?}; use a-z, 0-9 and _, from a letter on");
        counters.fault.get_or_insert(what);
    } else if value.is_finite() {
        (counters.tell)(names::name(&name), value);
    }
}
