//! The applications above a connection: how much they write, and when.

use wayhop_core::{Rng, Span, Time};

/// What an application does. The flow's source is the client, its destination the server.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum App {
    /// The client sends a file (FTP), of this many bytes or without an end.
    Bulk {
        /// Octets; `None` for no end.
        bytes: Option<u64>,
    },
    /// The client asks, the server answers, the client thinks, and asks again.
    Requests {
        /// Octets of a request.
        request_bytes: u32,
        /// Octets of an answer.
        response_bytes: u32,
        /// From the end of an answer to the next request.
        think: Span,
    },
    /// The client writes at a constant rate for a while, is silent for a while, and so on; both drawn from exponential
    /// distributions.
    OnOff {
        /// Octets a second while it writes.
        bytes_per_s: f64,
        /// Mean time of writing.
        on: Span,
        /// Mean time of silence.
        off: Span,
    },
}

impl App {
    pub(crate) fn check(&self) -> Result<(), (&'static str, String)> {
        let wrong = |key, why: &str| Err((key, why.to_owned()));
        match *self {
            Self::Bulk { bytes: Some(0) } => wrong("bytes", "give at least 1 byte, or remove it"),
            Self::Requests { request_bytes: 0, .. } => wrong("request_bytes", "give at least 1 byte"),
            Self::Requests { response_bytes: 0, .. } => wrong("response_bytes", "give at least 1 byte"),
            Self::OnOff { bytes_per_s, .. } if !(bytes_per_s > 0.0 && bytes_per_s <= 1e9) => {
                wrong("rate_bps", "give a rate above zero, at most 8e9")
            }
            Self::OnOff { on: Span::ZERO, .. } => wrong("on_s", "give a time above zero"),
            _ => Ok(()),
        }
    }
}

/// How much of an on-off source's data is written at once.
const TICK: Span = Span::from_millis(20);

/// One end's application.
#[derive(Clone, Debug)]
pub(crate) struct Running {
    app: App,
    client: bool,
    due: Option<Time>,
    /// Octets of the message that is being received.
    partial: u64,
    /// Whole messages received.
    pub(crate) messages: u64,
    /// The end of an on-off source's time of writing.
    on_until: Time,
    /// What was written for it, as a fraction of an octet that is left over.
    fraction: f64,
}

/// What an application asks of its connection.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wish {
    /// Octets to write.
    pub(crate) write: u64,
    /// Nothing more will be written.
    pub(crate) close: bool,
}

impl Running {
    pub(crate) fn new(app: App, client: bool) -> Self {
        Self { app, client, due: None, partial: 0, messages: 0, on_until: Time::ZERO, fraction: 0.0 }
    }

    /// The connection is there.
    pub(crate) fn start(&mut self, now: Time, rng: &mut Rng) -> Wish {
        match self.app {
            _ if !self.client => Wish::default(),
            App::Bulk { bytes } => Wish { write: bytes.unwrap_or(u64::MAX), close: bytes.is_some() },
            App::Requests { request_bytes, .. } => Wish { write: request_bytes.into(), close: false },
            App::OnOff { on, .. } => {
                self.on_until = now + exponential(on, rng);
                self.due = Some(now + TICK);
                Wish::default()
            }
        }
    }

    /// Octets arrived.
    pub(crate) fn received(&mut self, now: Time, octets: u64) -> Wish {
        let App::Requests { request_bytes, response_bytes, think } = self.app else { return Wish::default() };
        let whole = u64::from(if self.client { response_bytes } else { request_bytes });
        self.partial += octets;
        let done = self.partial / whole;
        self.partial %= whole;
        self.messages += done;
        if done == 0 {
            Wish::default()
        } else if self.client {
            self.due = Some(now + think);
            Wish::default()
        } else {
            Wish { write: done * u64::from(response_bytes), close: false }
        }
    }

    /// When [`Running::on_timer`] is to be called.
    pub(crate) fn deadline(&self) -> Option<Time> {
        self.due
    }

    pub(crate) fn on_timer(&mut self, now: Time, rng: &mut Rng) -> Wish {
        if self.due.is_none_or(|due| due > now) {
            return Wish::default();
        }
        self.due = None;
        match self.app {
            App::Bulk { .. } => Wish::default(),
            App::Requests { request_bytes, .. } => Wish { write: request_bytes.into(), close: false },
            App::OnOff { bytes_per_s, on, off } => {
                let octets = bytes_per_s * TICK.as_secs_f64() + self.fraction;
                let whole = octets as u64;
                self.fraction = octets - whole as f64;
                let mut next = now + TICK;
                if next > self.on_until {
                    next = now + exponential(off, rng) + TICK;
                    self.on_until = next + exponential(on, rng);
                }
                self.due = Some(next);
                Wish { write: whole, close: false }
            }
        }
    }

    /// The flow's time is over: nothing more is written.
    pub(crate) fn stop(&mut self) -> Wish {
        self.due = None;
        Wish { write: 0, close: true }
    }
}

fn exponential(mean: Span, rng: &mut Rng) -> Span {
    Span::from_secs_f64(rng.exponential(mean.as_secs_f64()))
}
