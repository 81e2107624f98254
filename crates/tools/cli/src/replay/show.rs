//! What `wayhop replay` prints.

use std::path::Path;

use serde_json::{Value, json};
use wayhop_core::Time;
use wayhop_protocols::CLASSIFIER;
use wayhop_replay::{EffectDifference, End, Header, ReplayReport, ReplayVerdict, words};

use crate::failure::{Failure, harmless, print, print_object, say};

/// Columns of one side of two.
const SIDE: usize = 56;

/// One log's results.
pub(super) struct Show<'a> {
    pub(super) log: &'a Path,
    pub(super) header: &'a Header,
    pub(super) json: bool,
}

impl Show<'_> {
    /// A difference: with --json only if all are wanted, one object a line; the first is in the log's own object.
    pub(super) fn difference(
        &self,
        d: &EffectDifference,
        before: impl Iterator<Item = (u64, Time, Value)>,
        all: bool,
    ) -> Result<(), Failure> {
        if self.json {
            return if all {
                print_object(&json!({"log": self.log, "difference": object(d)}))
            } else {
                Ok(())
            };
        }
        let (log, at, protocol) = (self.log.display(), d.at.as_secs_f64(), self.header.engine_name());
        let mut lines = vec![format!("{log}:{}: {protocol} differs at {at:.9} s", d.line)];
        for (line, at, input) in before {
            let (at, input) = (at.as_secs_f64(), words::input(&input, CLASSIFIER).join(": "));
            lines.push(format!("  before  line {line}, {at:.9} s: {input}"));
        }
        for (i, input) in words::input(&d.input, CLASSIFIER).into_iter().enumerate() {
            lines.push(format!("  {:<7} {input}", if i == 0 { "input" } else { "" }));
        }
        if let Some(what) = &d.panicked {
            lines.push(format!("  the engine panicked: {what}"));
        }
        lines.push(format!("  {:<SIDE$} | {}", "effects in the log", "effects now"));
        for i in 0..d.expected.len().max(d.got.len()) {
            let (a, b) = (d.expected.get(i), d.got.get(i));
            let side = |v: Option<&Value>| v.map_or_else(|| "-".to_owned(), |v| words::effect(v, CLASSIFIER));
            lines.extend(columns(if a == b { ' ' } else { '!' }, &side(a), &side(b)));
            if let Some((at, old, new)) = a.zip(b).and_then(|(a, b)| words::first_octet(a, b)) {
                let octet = |o: Option<u8>| o.map_or_else(|| "none".to_owned(), |o| format!("{o:02x}"));
                lines.push(format!("    first different octet {at}: {} | {}", octet(old), octet(new)));
            }
        }
        print_lines(&lines)
    }

    /// Reports what was found before an invalid line.
    pub(super) fn before_error(&self, report: &ReplayReport) {
        if self.json {
            return;
        }
        say!(
            "wayhop: {}: replayed up to line {}: {} inputs, {} of them with different effects",
            harmless(&self.log.display().to_string()),
            report.line,
            report.inputs,
            report.differences
        );
    }

    pub(super) fn end(&self, r: &ReplayReport, first: Option<&EffectDifference>) -> Result<(), Failure> {
        let h = self.header;
        let (end, why) = match &r.end {
            End::Whole => ("whole", None),
            End::Stopped(why) => ("stopped", Some(why)),
            End::Cut(why) => ("cut", Some(why)),
        };
        if self.json {
            let verdict = match r.verdict() {
                ReplayVerdict::Same => "same",
                ReplayVerdict::SameSoFar => "same_so_far",
                ReplayVerdict::Differs => "differs",
            };
            return print_object(&json!({
                "log": self.log, "log_version": h.wayhop, "world": h.world, "scenario": h.scenario, "seed": h.seed,
                "protocol": h.protocol, "profile": h.profile, "node": h.node, "name": h.name, "address": h.address,
                "engine": h.engine, "application": h.application.as_ref().map(|a| &a.name), "verdict": verdict, "inputs": r.inputs, "effects": r.effects,
                "differences": r.differences, "last_line": r.line, "last_s": r.at.as_secs_f64(), "end": end, "why": why,
                "first": first.map(object),
            }));
        }
        let log = self.log.display();
        let found = match r.differences {
            0 => format!("same {} effects from {} inputs", r.effects, r.inputs),
            n => format!("{n} of {} inputs with different effects", r.inputs),
        };
        let (subject, name, address) = (h.subject(), &h.name, h.address);
        let at = r.at.as_secs_f64();
        let mut lines = vec![format!("{log}: {subject} of node {name} at {address}: {found}, {at:.3} s")];
        match &r.end {
            // The engine panicked: the rest was not read.
            _ if first.is_some_and(|d| d.panicked.is_some()) => {}
            End::Whole => {}
            End::Stopped(why) => lines.push(format!("{log}: recording stopped before the run ended: {why}")),
            End::Cut(why) => {
                lines.push(format!("{log}: truncated log, replayed up to line {}: {why}", r.line));
            }
        }
        print_lines(&lines)
    }
}

/// A log may have control characters, line breaks among them.
fn print_lines(lines: &[String]) -> Result<(), Failure> {
    print(&lines.iter().map(|l| harmless(l) + "\n").collect::<String>())
}

fn object(d: &EffectDifference) -> Value {
    json!({
        "line": d.line, "time_s": d.at.as_secs_f64(), "input": d.input, "first_effect": d.first(),
        "expected": d.expected, "got": d.got, "panicked": d.panicked,
        "words": {
            "input": words::input(&d.input, CLASSIFIER),
            "expected": d.expected.iter().map(|v| words::effect(v, CLASSIFIER)).collect::<Vec<_>>(),
            "got": d.got.iter().map(|v| words::effect(v, CLASSIFIER)).collect::<Vec<_>>(),
        },
    })
}

/// Two texts side by side, each in lines of its own.
fn columns(mark: char, a: &str, b: &str) -> Vec<String> {
    let (a, b) = (wrapped(a), wrapped(b));
    let line = |i: usize| {
        let side = |v: &[String]| v.get(i).cloned().unwrap_or_default();
        let mark = if i == 0 { mark } else { ' ' };
        format!("{mark} {:<SIDE$} | {}", side(&a), side(&b)).trim_end().to_owned()
    };
    (0..a.len().max(b.len())).map(line).collect()
}

/// A text in lines that fit one side; those after the first are set in.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last_mut().map_or(0, |l| l.chars().count());
        if last > 2 && last + 1 + word.chars().count() > SIDE {
            lines.push(format!("  {word}"));
        } else if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}
