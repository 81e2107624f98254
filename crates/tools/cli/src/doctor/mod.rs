//! `wayhop doctor`: whether this machine can run each mode, and how to fix what is missing.

mod checks;

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::ValueEnum as _;
use serde_json::{Value, json};
use wayhop_report::Document;
use wayhop_trace::Status;

use crate::failure::{Failure, put};
use crate::scenario_args::value_name;
use checks::Check;

pub(crate) const EXAMPLES: &str = "\
Exits with 0 if the given mode works here and with 1 if not; without a mode, always with 0.

Examples:
  wayhop doctor
  sudo wayhop doctor emulate && sudo wayhop emulate scenarios/chain.toml";

#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {
    /// Mode to check. Default: all, and useful tools
    world: Option<World>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// What can be checked.
#[derive(Copy, Clone, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum World {
    /// `wayhop run`: simulation
    Sim,
    /// `wayhop emulate`: real programs over a simulated radio
    Emulate,
    /// `wayhop lab`: daemons on a shared wire
    Lab,
    /// `wayhop node`: a daemon on a real interface
    Node,
    /// Other useful programs
    Tools,
}

impl World {
    fn checks(self) -> Vec<Check> {
        match self {
            Self::Sim => checks::sim(),
            Self::Emulate => checks::emulate(),
            Self::Lab => checks::lab(),
            Self::Node => checks::node(),
            Self::Tools => checks::tools(),
        }
    }
}

pub(crate) fn doctor(a: &DoctorArgs) -> Result<ExitCode, Failure> {
    let asked = a.world.map_or_else(|| World::value_variants().to_vec(), |w| vec![w]);
    let found: Vec<(World, Vec<Check>)> = asked.into_iter().map(|w| (w, w.checks())).collect();
    let text = if a.json { to_json(&found).to_string() + "\n" } else { to_text(&found) };
    put(text)?;
    let works = a.world.is_none() || found.iter().all(|(_, checks)| works(checks));
    Ok(if works { Status::Done } else { Status::Failed }.into())
}

fn works(checks: &[Check]) -> bool {
    checks.iter().all(|c| c.is_there || !c.is_needed)
}

fn to_json(found: &[(World, Vec<Check>)]) -> Document {
    let worlds = found.iter().map(|(world, checks)| {
        let rows: Vec<Value> = checks
            .iter()
            .map(|c| {
                json!({"what": c.what, "there": c.is_there, "needed": c.is_needed, "found": c.found,
                       "remedy": if c.is_there { Value::Null } else { Value::from(c.remedy) }})
            })
            .collect();
        (value_name(world), json!({"works": works(checks), "checks": rows}))
    });
    json!({"worlds": worlds.collect::<serde_json::Map<_, _>>()}).into()
}

fn to_text(found: &[(World, Vec<Check>)]) -> String {
    let mut text = String::new();
    for (world, checks) in found {
        let verdict = match (world, works(checks)) {
            (World::Tools, _) => "optional",
            (_, true) => "works here",
            (_, false) => "does not work here",
        };
        let _ = writeln!(text, "{}: {verdict}", value_name(world));
        for c in checks {
            let mark = match (c.is_there, c.is_needed) {
                (true, _) => "ok     ",
                (false, true) => "MISSING",
                (false, false) => "absent ",
            };
            let _ = writeln!(text, "  {mark} {}: {}", c.what, c.found);
            if !c.is_there {
                let _ = writeln!(text, "          {}", c.remedy);
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_world_works_if_nothing_that_it_needs_is_missing() {
        let check = |is_there, is_needed| Check {
            what: "x",
            is_there,
            is_needed,
            found: String::new(),
            remedy: "do y",
        };
        assert!(works(&[check(true, true), check(false, false)]));
        assert!(!works(&[check(true, true), check(false, true)]));
        let found = [(World::Lab, vec![check(false, true), check(true, true)])];
        let json = serde_json::to_value(to_json(&found)).expect("JSON");
        assert_eq!(json["worlds"]["lab"]["works"], false);
        assert_eq!(json["worlds"]["lab"]["checks"][0]["remedy"], "do y");
        assert_eq!(json["worlds"]["lab"]["checks"][1]["remedy"], Value::Null);
        assert!(to_text(&[(World::Lab, vec![check(false, true)])]).contains("MISSING x: \n          do y"));
    }
}
