//! Replays a log to an engine or an application, and compares its effects with the log's.

use std::collections::VecDeque;
use std::net::IpAddr;

use serde_json::Value;
use wayhop_core::{Application, Time};

use crate::answer::Answer;
use crate::application::ApplicationSubject;
use crate::engine::EngineSubject;
use crate::error::LogError;
use crate::header::Engines;
use crate::reader::{LogItem, Reader};

/// An input that an engine answers otherwise than in the log.
#[derive(Clone, Debug, PartialEq)]
pub struct EffectDifference {
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

impl EffectDifference {
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
pub struct ReplayReport {
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

impl ReplayReport {
    /// In a word.
    pub fn verdict(&self) -> ReplayVerdict {
        match (self.differences, &self.end) {
            (0, End::Cut(_)) => ReplayVerdict::SameSoFar,
            (0, _) => ReplayVerdict::Same,
            _ => ReplayVerdict::Differs,
        }
    }
}

/// What a replay found, in a word.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum ReplayVerdict {
    /// The engine did the same.
    Same,
    /// It did the same as far as the log goes, which is not whole.
    SameSoFar,
    /// It did something else.
    Differs,
}

/// What gets a log.
enum Subject {
    Engine(Box<EngineSubject>),
    Application(ApplicationSubject),
}

/// A log that is being fed to an engine or an application.
pub struct Replay {
    reader: Reader,
    subject: Subject,
    /// The last inputs, for context: line and text.
    recent: VecDeque<(u64, Vec<u8>)>,
    context: usize,
    report: ReplayReport,
    is_over: bool,
}

impl Replay {
    /// These engines are to get this log.
    pub fn new(reader: Reader, engines: Engines) -> Self {
        let subject = EngineSubject::new(engines, reader.header());
        Self::of(reader, Subject::Engine(Box::new(subject)))
    }

    /// This application is to get this log.
    pub fn of_application(reader: Reader, application: Box<dyn Application>) -> Self {
        let header = reader.header();
        let addr = header.address6.map_or(IpAddr::V4(header.address), IpAddr::V6);
        Self::of(reader, Subject::Application(ApplicationSubject::new(application, addr)))
    }

    const fn of(reader: Reader, subject: Subject) -> Self {
        let report = ReplayReport {
            inputs: 0,
            effects: 0,
            differences: 0,
            line: 1,
            at: Time::ZERO,
            end: End::Cut(String::new()),
        };
        Self { reader, subject, recent: VecDeque::new(), context: 0, report, is_over: false }
    }

    /// Keeps this many inputs before each, for [`Replay::context`].
    #[must_use]
    pub fn with_context(mut self, inputs: usize) -> Self {
        self.context = inputs;
        self
    }

    /// What was found so far; all of it, when [`Replay::step`] has said so.
    pub fn report(&self) -> &ReplayReport {
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
    pub fn step(&mut self) -> Result<Option<EffectDifference>, LogError> {
        let before = self.report.at;
        let answer = match (self.reader.next_item()?, &mut self.subject) {
            (LogItem::Input(line), Subject::Engine(s)) => s.answer(line, before),
            (LogItem::ApplicationInput(line), Subject::Application(s)) => s.answer(line, before),
            (LogItem::Input(_) | LogItem::ApplicationInput(_), _) => {
                Err("this is a log of another kind".to_owned())
            }
            (LogItem::End(closing), _) => {
                self.is_over = true;
                self.report.end = closing.stopped.map_or(End::Whole, End::Stopped);
                return Ok(None);
            }
            (LogItem::Cut(why), _) => {
                self.is_over = true;
                self.report.end = End::Cut(why);
                return Ok(None);
            }
        };
        let Answer { at, expected, got, panicked } = answer.map_err(|what| self.reader.wrong(what))?;
        self.keep();
        let r = &mut self.report;
        (r.inputs, r.line, r.at) = (r.inputs + 1, self.reader.line(), at);
        r.effects += expected.len() as u64;
        if got == expected && panicked.is_none() {
            return Ok(None);
        }
        self.report.differences += 1;
        self.is_over = panicked.is_some();
        let whole: Value = serde_json::from_slice(self.reader.text()).unwrap_or_default();
        let input = whole.get("in").cloned().unwrap_or_default();
        Ok(Some(EffectDifference { line: self.report.line, at, input, expected, got, panicked }))
    }

    /// Remembers the input for context.
    fn keep(&mut self) {
        if self.context == 0 {
            return;
        }
        // One more than is shown: the last one is the input at hand.
        if self.recent.len() > self.context {
            self.recent.pop_front();
        }
        self.recent.push_back((self.reader.line(), self.reader.text().to_vec()));
    }
}
