//! What `wayhop replay` prints.

use std::io::{Write as _, stdout};
use std::path::Path;

use serde_json::{Value, json};
use wayhop_core::Time;
use wayhop_replay::{Difference, End, Header, Report, Verdict};

use super::words;
use crate::failure::{Failure, harmless, output, say};

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
        d: &Difference,
        before: impl Iterator<Item = (u64, Time, Value)>,
        all: bool,
    ) -> Result<(), Failure> {
        if self.json {
            return if all {
                self.object(&json!({"log": self.log, "difference": object(d)}))
            } else {
                Ok(())
            };
        }
        let mut text = format!(
            "{}:{}: at {:.9} s {} does something else\n",
            self.log.display(),
            d.line,
            d.at.as_secs_f64(),
            self.header.protocol
        );
        for (line, at, input) in before {
            text += &format!(
                "  before  line {line}, {:.9} s: {}\n",
                at.as_secs_f64(),
                words::input(&input).join(": ")
            );
        }
        let mut lines = words::input(&d.input).into_iter();
        text += &format!("  input   {}\n", lines.next().unwrap_or_default());
        lines.for_each(|l| text += &format!("          {l}\n"));
        if let Some(what) = &d.panicked {
            text += &format!("  the engine panicked: {what}\n");
        }
        text += &format!("  {:<SIDE$} | {}\n", "effects in the log", "effects now");
        let both = d.expected.len().max(d.got.len());
        // What is the same before and after the difference is not what one looks for.
        for i in 0..both {
            let (a, b) = (d.expected.get(i), d.got.get(i));
            let side = |v: Option<&Value>| v.map_or_else(|| "-".to_owned(), words::effect);
            text += &columns(if a == b { ' ' } else { '!' }, &side(a), &side(b));
            if let Some((at, old, new)) = a.zip(b).and_then(|(a, b)| words::first_octet(a, b)) {
                let octet = |o: Option<u8>| o.map_or_else(|| "none".to_owned(), |o| format!("{o:02x}"));
                text += &format!("    the first different octet is {at}: {} | {}\n", octet(old), octet(new));
            }
        }
        self.text(&text)
    }

    /// What was found before a line that is none.
    pub(super) fn before_error(&self, report: &Report) -> Result<(), Failure> {
        if self.json {
            return Ok(());
        }
        say!(
            "wayhop: {}: replayed up to line {}: {} inputs, {} of them answered otherwise",
            harmless(&self.log.display().to_string()),
            report.line,
            report.inputs,
            report.differences
        );
        Ok(())
    }

    /// The result.
    pub(super) fn end(&self, r: &Report, first: Option<&Difference>) -> Result<(), Failure> {
        let h = self.header;
        let (end, why) = match &r.end {
            End::Whole => ("whole", None),
            End::Stopped(why) => ("stopped", Some(why)),
            End::Cut(why) => ("cut", Some(why)),
        };
        if self.json {
            let verdict = match r.verdict() {
                Verdict::Same => "same",
                Verdict::SameSoFar => "same_so_far",
                Verdict::Differs => "differs",
            };
            return self.object(&json!({
                "log": self.log, "wayhop": h.wayhop, "world": h.world, "scenario": h.scenario, "seed": h.seed,
                "protocol": h.protocol, "profile": h.profile, "node": h.node, "name": h.name, "address": h.address,
                "engine": h.engine, "verdict": verdict, "inputs": r.inputs, "effects": r.effects,
                "differences": r.differences, "last_line": r.line, "last_s": r.at.as_secs_f64(), "end": end, "why": why,
                "first": first.map(object),
            }));
        }
        let log = self.log.display();
        let mut text = format!("{log}: {} ({}) of node {} at {}: ", h.protocol, h.profile, h.name, h.address);
        text += &match r.differences {
            0 => format!("the same {} effects of {} inputs", r.effects, r.inputs),
            n => format!("{n} of {} inputs answered otherwise", r.inputs),
        };
        text += &format!(", {:.3} s\n", r.at.as_secs_f64());
        match &r.end {
            // The engine panicked: what is left was not read.
            _ if first.is_some_and(|d| d.panicked.is_some()) => {}
            End::Whole => {}
            End::Stopped(why) => text += &format!("{log}: the log ends before its run: {why}\n"),
            End::Cut(why) => text += &format!("{log}: half a log, replayed up to line {}: {why}\n", r.line),
        }
        self.text(&text)
    }

    fn text(&self, text: &str) -> Result<(), Failure> {
        let lines: Vec<String> = text.lines().map(|l| harmless(l) + "\n").collect();
        output(stdout().write_all(lines.concat().as_bytes()))
    }

    fn object(&self, value: &Value) -> Result<(), Failure> {
        output(writeln!(stdout(), "{value}"))
    }
}

fn object(d: &Difference) -> Value {
    json!({
        "line": d.line, "time_s": d.at.as_secs_f64(), "input": d.input, "first_effect": d.first(),
        "expected": d.expected, "got": d.got, "panicked": d.panicked,
        "words": {
            "input": words::input(&d.input),
            "expected": d.expected.iter().map(words::effect).collect::<Vec<_>>(),
            "got": d.got.iter().map(words::effect).collect::<Vec<_>>(),
        },
    })
}

/// Two texts side by side, each in lines of its own.
fn columns(mark: char, a: &str, b: &str) -> String {
    let (a, b) = (wrapped(a), wrapped(b));
    let mut text = String::new();
    for i in 0..a.len().max(b.len()) {
        let side = |v: &[String]| v.get(i).cloned().unwrap_or_default();
        let mark = if i == 0 { mark } else { ' ' };
        text += format!("{mark} {:<SIDE$} | {}", side(&a), side(&b)).trim_end();
        text.push('\n');
    }
    text
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
