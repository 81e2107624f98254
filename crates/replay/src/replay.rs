//! Feeds a log to an engine, and compares what it asks for with what is in the log.

use std::collections::VecDeque;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::Value;
use wayhop_core::{Cx, Effect, Input, Packet, Pool, Protocol, Rng, Time};
use wayhop_wire::{ipv4, ipv6};

use crate::error::LogError;
use crate::header::Engines;
use crate::line::Line;
use crate::reader::{Item, Reader};

/// An input that an engine answers otherwise than in the log.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The line of the log.
    pub line: u64,
    /// When, on the node's clock.
    pub at: Time,
    /// The input.
    pub input: Value,
    /// The effects in the log.
    pub expected: Vec<Value>,
    /// The effects now.
    pub got: Vec<Value>,
    /// If the engine panicked: what it said.
    pub panicked: Option<String>,
}

impl Difference {
    /// The index of the first effect that is not the same.
    pub fn first(&self) -> usize {
        self.expected.iter().zip(&self.got).take_while(|(a, b)| a == b).count()
    }
}

/// How a log ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// With the line that ends a log, all lines counted.
    Whole,
    /// With that line, which says why there is no more of it.
    Stopped(String),
    /// In the middle.
    Cut(String),
}

/// What a replay found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Inputs that the engine was given.
    pub inputs: u64,
    /// Effects of the log that were compared.
    pub effects: u64,
    /// Inputs that it answered otherwise.
    pub differences: u64,
    /// The last line that was replayed.
    pub line: u64,
    /// Its time.
    pub at: Time,
    /// How the log ended.
    pub end: End,
}

impl Report {
    /// In a word.
    pub fn verdict(&self) -> Verdict {
        match (self.differences, &self.end) {
            (0, End::Cut(_)) => Verdict::SameSoFar,
            (0, _) => Verdict::Same,
            _ => Verdict::Differs,
        }
    }
}

/// What a replay found, in a word.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The engine did the same.
    Same,
    /// It did the same as far as the log goes, which is not whole.
    SameSoFar,
    /// It did something else.
    Differs,
}

/// A log that is being fed to an engine.
pub struct Replay {
    reader: Reader,
    engines: Engines,
    engine: Option<(Box<dyn Protocol>, Rng)>,
    addr: (Ipv4Addr, Option<Ipv6Addr>),
    pool: Pool,
    effects: Vec<Effect>,
    /// The last inputs, for context: line and text.
    recent: VecDeque<(u64, Vec<u8>)>,
    context: usize,
    report: Report,
    is_over: bool,
}

impl Replay {
    /// These engines are to get this log.
    pub fn new(reader: Reader, engines: Engines) -> Self {
        let addr = (reader.header().address, reader.header().address6);
        let report = Report {
            inputs: 0,
            effects: 0,
            differences: 0,
            line: 1,
            at: Time::ZERO,
            end: End::Cut("it was not read to its end".to_owned()),
        };
        Self {
            reader,
            engines,
            engine: None,
            addr,
            pool: Pool::new(),
            effects: Vec::new(),
            recent: VecDeque::new(),
            context: 0,
            report,
            is_over: false,
        }
    }

    /// Keeps so many inputs before each, for [`Replay::context`].
    #[must_use]
    pub fn with_context(mut self, inputs: usize) -> Self {
        self.context = inputs;
        self
    }

    /// What was found so far; all of it, when [`Replay::step`] has said so.
    pub fn report(&self) -> &Report {
        &self.report
    }
    /// Octets of the log that were read.
    pub fn position(&self) -> u64 {
        self.reader.position()
    }
    /// The inputs before the last one: line, time and input.
    pub fn context(&self) -> impl Iterator<Item = (u64, Time, Value)> + '_ {
        let before = self.recent.len().saturating_sub(1);
        self.recent.iter().take(before).filter_map(|(line, text)| {
            let value: Value = serde_json::from_slice(text).ok()?;
            let at = Time::from_nanos(value.get("at")?.as_u64()?);
            Some((*line, at, value.get("in")?.clone()))
        })
    }

    /// Whether there is more to replay.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Replays the next input. Returns the difference, if there is one.
    ///
    /// # Errors
    /// If the log goes wrong.
    pub fn step(&mut self) -> Result<Option<Difference>, LogError> {
        let line = match self.reader.next_item()? {
            Item::Input(line) => line,
            Item::End(closing) => {
                self.is_over = true;
                self.report.end = closing.stopped.map_or(End::Whole, End::Stopped);
                return Ok(None);
            }
            Item::Cut(why) => {
                self.is_over = true;
                self.report.end = End::Cut(why);
                return Ok(None);
            }
        };
        let checked = check(&line, self.report.at, self.engine.is_none());
        let Line { at, id, interface, exceptions, rng, input, out: expected } = line;
        if let (Input::Start, Some(rng)) = (&input, rng) {
            // The node comes up, perhaps again: nothing is left of what it was.
            let again = self.engine.is_some();
            let protocol = if again { &self.engines.after_reboot } else { &self.engines.first };
            self.engine = Some((protocol.engine(), rng));
        }
        let (addr, addr6) = self.addr;
        let mut panicked = None;
        if let (Ok(()), Some((engine, rng))) = (&checked, &mut self.engine) {
            let (mut id, pool, effects) = (id, &mut self.pool, &mut self.effects);
            let call = AssertUnwindSafe(|| {
                let mut cx = Cx::new(at, addr, interface, rng, pool, &mut id, effects)
                    .with_addr6(addr6)
                    .with_exceptions(&exceptions);
                engine.on_input(&mut cx, input);
            });
            panicked = catch_unwind(call).err().map(|what| said(&*what));
        }
        checked.map_err(|what| self.reader.wrong(what))?;
        self.keep();
        let r = &mut self.report;
        (r.inputs, r.line, r.at) = (r.inputs + 1, self.reader.line(), at);
        r.effects += expected.len() as u64;
        let got: Vec<Value> =
            self.effects.iter().map(|e| serde_json::to_value(e).unwrap_or_default()).collect();
        self.end_effects();
        if got == expected && panicked.is_none() {
            return Ok(None);
        }
        self.report.differences += 1;
        self.is_over = panicked.is_some();
        let whole: Value = serde_json::from_slice(self.reader.text()).unwrap_or_default();
        let input = whole.get("in").cloned().unwrap_or_default();
        Ok(Some(Difference { line: self.report.line, at, input, expected, got, panicked }))
    }

    /// Remembers the input for context.
    fn keep(&mut self) {
        if self.context == 0 {
            return;
        }
        // One more than is shown: the last one is the input at hand.
        let mut text = if self.recent.len() > self.context {
            self.recent.pop_front().map_or_else(Vec::new, |(_, text)| text)
        } else {
            Vec::new()
        };
        text.clear();
        text.extend_from_slice(self.reader.text());
        self.recent.push_back((self.reader.line(), text));
    }

    /// The packets of effects end here.
    fn end_effects(&mut self) {
        for effect in self.effects.drain(..) {
            if let Effect::Send(p, _) | Effect::Deliver(p) | Effect::Drop(p, _) | Effect::Consume(p) = effect
            {
                self.pool.recycle(p);
            }
        }
    }
}

/// What a node never gives an engine.
fn check(line: &Line<'_>, before: Time, is_first: bool) -> Result<(), String> {
    if line.at < before {
        let (at, before) = (line.at.as_nanos(), before.as_nanos());
        return Err(format!("time goes back, from {before} to {at} ns"));
    }
    if !line.exceptions.is_sorted() {
        return Err("`exceptions` are not in order".into());
    }
    match &line.input {
        Input::Start if line.rng.is_none() => {
            return Err("`start` needs `rng`, the engine's stream of random numbers".into());
        }
        Input::Start => {}
        _ if is_first => return Err("the first input of a log is `start`".into()),
        _ => {}
    }
    match packet(&line.input) {
        Some(octets) if !is_ip(octets) => Err("the input's packet is no IP packet".into()),
        _ => Ok(()),
    }
}

fn packet<'a>(input: &'a Input<'_>) -> Option<&'a [u8]> {
    match input {
        Input::Outbound(p) | Input::Frame(p, _) => Some(p.bytes()),
        Input::Overheard { packet, .. } => Some(packet),
        Input::TxStatus(report) => report.packet.as_ref().map(Packet::bytes),
        _ => None,
    }
}

fn is_ip(octets: &[u8]) -> bool {
    let v4 = || ipv4::Packet::new_checked(octets).map(|ip| ip.total_len());
    let v6 = || ipv6::Packet::new_checked(octets).map(|ip| ip.total_len());
    v4().or_else(|_| v6()).is_ok_and(|len| len == octets.len())
}

/// What a panic said.
fn said(what: &(dyn std::any::Any + Send)) -> String {
    let text = what.downcast_ref::<&str>().map(|s| (*s).to_owned());
    text.or_else(|| what.downcast_ref::<String>().cloned()).unwrap_or_else(|| "nothing".to_owned())
}
