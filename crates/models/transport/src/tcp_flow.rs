//! The two ends of a TCP flow, as applications above its stream.

use std::net::SocketAddr;

use wayhop_core::{Application, ApplicationCx, Span, StreamId, StreamInput, Time, TimerKey};

use crate::FlowConfig;
use crate::source::exponential;
use crate::tcp::App;

/// How much of an on-off source's data is written at once.
const TICK: Span = Span::from_millis(20);

/// The client's number of its stream.
const CONNECTION: u64 = 0;
const STREAM: StreamId = StreamId::Opened(CONNECTION);

/// The flow begins.
const START: TimerKey = TimerKey(0);
/// The flow's time is over.
const STOP: TimerKey = TimerKey(1);
/// The client writes again.
const WRITE: TimerKey = TimerKey(2);

/// The flow's source: it opens the connection when the flow starts, and closes its stream when it has written everything or the
/// flow stops.
#[derive(Clone, Debug)]
pub struct TcpClient {
    app: App,
    to: SocketAddr,
    start: Option<Time>,
    stop: Option<Time>,
    /// Octets of the answer that is being received.
    partial: u64,
    /// The end of an on-off source's time of writing.
    on_until: Time,
    /// The fraction of an octet that an on-off source has not written yet.
    fraction: f64,
}

/// The flow's destination: it answers requests. Its host closes its stream when the client has closed the other one.
#[derive(Clone, Debug)]
pub struct TcpServer {
    port: u16,
    app: App,
    /// Octets of the request that is being received.
    partial: u64,
}

impl TcpClient {
    /// The client of a flow that can be sent ([`FlowConfig::check`]), to the server at this address.
    pub fn new(config: &FlowConfig, app: App, to: SocketAddr) -> Self {
        let is_empty = config.stop.is_some_and(|stop| config.start >= stop) || config.max_packets == Some(0);
        Self {
            app,
            to,
            start: Some(config.start).filter(|_| !is_empty),
            stop: config.stop,
            partial: 0,
            on_until: Time::ZERO,
            fraction: 0.0,
        }
    }

    /// The connection is established.
    fn begin(&mut self, cx: &mut ApplicationCx<'_>) {
        match self.app {
            App::Bulk { bytes } => {
                cx.write_pattern(STREAM, bytes.unwrap_or(u64::MAX));
                if bytes.is_some() {
                    cx.close(STREAM);
                }
            }
            App::Requests { request_bytes, .. } => cx.write_pattern(STREAM, request_bytes.into()),
            App::OnOff { on, .. } => {
                self.on_until = cx.now() + exponential(on, cx.rng());
                cx.set_timer(WRITE, cx.now() + TICK);
            }
        }
    }

    /// It is time to write again.
    fn write(&mut self, cx: &mut ApplicationCx<'_>) {
        match self.app {
            App::Bulk { .. } => {}
            App::Requests { request_bytes, .. } => cx.write_pattern(STREAM, request_bytes.into()),
            App::OnOff { bytes_per_s, on, off } => {
                let octets = bytes_per_s * TICK.as_secs_f64() + self.fraction;
                let whole = octets as u64;
                self.fraction = octets - whole as f64;
                let mut next = cx.now() + TICK;
                if next > self.on_until {
                    next = cx.now() + exponential(off, cx.rng()) + TICK;
                    self.on_until = next + exponential(on, cx.rng());
                }
                cx.write_pattern(STREAM, whole);
                cx.set_timer(WRITE, next);
            }
        }
    }
}

impl Application for TcpClient {
    fn start(&mut self, cx: &mut ApplicationCx<'_>) {
        if let Some(start) = self.start {
            cx.set_timer(START, start);
        }
    }

    fn on_timer(&mut self, cx: &mut ApplicationCx<'_>, key: TimerKey) {
        if key == START {
            cx.connect(CONNECTION, self.to);
            if let Some(stop) = self.stop {
                cx.set_timer(STOP, stop);
            }
        } else if self.stop.is_some_and(|stop| stop <= cx.now()) {
            cx.close(STREAM);
            cx.clear_timer(WRITE);
        } else {
            self.write(cx);
        }
    }

    fn on_stream(&mut self, cx: &mut ApplicationCx<'_>, input: StreamInput<'_>) {
        match input {
            StreamInput::Connected { .. } => self.begin(cx),
            StreamInput::Pattern { bytes, .. } => {
                if let App::Requests { response_bytes, think, .. } = self.app
                    && complete(&mut self.partial, bytes, response_bytes) > 0
                {
                    cx.set_timer(WRITE, cx.now() + think);
                }
            }
            StreamInput::Closed { .. } => {
                cx.clear_timer(WRITE);
                cx.clear_timer(STOP);
            }
            _ => {}
        }
    }

    /// The flow is the experiment's.
    fn restart(&mut self) {}

    fn figures(&self, _: &mut dyn FnMut(&'static str, f64)) {}
}

impl TcpServer {
    /// The server of a flow.
    pub const fn new(config: &FlowConfig, app: App) -> Self {
        Self { port: config.dst_port, app, partial: 0 }
    }
}

impl Application for TcpServer {
    fn start(&mut self, cx: &mut ApplicationCx<'_>) {
        cx.listen_stream(self.port);
    }

    fn on_timer(&mut self, _: &mut ApplicationCx<'_>, _: TimerKey) {}

    fn on_stream(&mut self, cx: &mut ApplicationCx<'_>, input: StreamInput<'_>) {
        if let StreamInput::Pattern { stream, bytes } = input
            && let App::Requests { request_bytes, response_bytes, .. } = self.app
        {
            let requests = complete(&mut self.partial, bytes, request_bytes);
            if requests > 0 {
                cx.write_pattern(stream, requests * u64::from(response_bytes));
            }
        }
    }

    /// The flow is the experiment's.
    fn restart(&mut self) {}

    fn figures(&self, _: &mut dyn FnMut(&'static str, f64)) {}
}

/// How many messages of a size are complete with these octets; `partial` counts those of an incomplete one.
fn complete(partial: &mut u64, octets: u64, size: u32) -> u64 {
    let (octets, size) = (*partial + octets, u64::from(size));
    *partial = octets % size;
    octets / size
}
