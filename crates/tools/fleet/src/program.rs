//! Programs that start with the nodes, from the fleet file.

use serde::Deserialize;
use wayhop_document::Document;

use crate::names::{has_control, is_name};

const MOST: usize = 32;
const MOST_WORDS: usize = 256;

/// A program that starts with the nodes: an entry of `[[start]]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// Its name, and the folder of its output.
    pub name: String,
    /// Its command and arguments, with placeholders.
    pub command: Vec<String>,
    /// The hosts that run it; all of them if none is named.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// When it starts, seconds after the nodes.
    #[serde(default)]
    pub at_s: f64,
    /// Time after which it is stopped, seconds.
    pub for_s: Option<f64>,
    /// Whether it runs as root.
    #[serde(default)]
    pub root: bool,
}

impl Program {
    pub(crate) fn is_for(&self, host: &str) -> bool {
        self.hosts.is_empty() || self.hosts.iter().any(|h| h == host)
    }
}

pub(crate) fn check(all: &[Program], hosts: &[&str], doc: &Document) -> Result<(), wayhop_document::Error> {
    if all.len() > MOST {
        let reason = format!("too many programs: {}", all.len());
        return Err(doc.error("start", reason, format!("give at most {MOST}")));
    }
    for (i, p) in all.iter().enumerate() {
        let key = |name: &str| format!("start[{i}].{name}");
        if !is_name(&p.name) {
            let reason = format!("{:?} is not a valid name", p.name);
            return Err(doc.error(&key("name"), reason, "use at most 64 letters, digits and . _ -"));
        }
        let is_same_host = |h: &&str| all[..i].iter().any(|o| o.name == p.name && o.is_for(h) && p.is_for(h));
        if let Some(host) = hosts.iter().find(|h| is_same_host(h)) {
            let reason = format!("{host} already has a program {}", p.name);
            return Err(doc.error(&key("name"), reason, "give each program of a host a different name"));
        }
        let is_fit = |w: &String| w.len() <= 4096 && !has_control(w);
        let first = p.command.first().filter(|w| !w.is_empty() && !w.starts_with('-'));
        if first.is_none() || p.command.len() > MOST_WORDS || !p.command.iter().all(is_fit) {
            let reason = "not a valid command";
            let remedy = "give a list of words such as [\"gpsd\", \"-N\", \"/dev/ttyUSB0\"], without control characters";
            return Err(doc.error(&key("command"), reason, remedy));
        }
        if let Some(unknown) = p.hosts.iter().find(|h| !hosts.contains(&h.as_str())) {
            let reason = format!("no host {unknown:?}");
            return Err(doc.error(&key("hosts"), reason, format!("the hosts are {}", hosts.join(", "))));
        }
        if !(-3_600.0..=86_400.0).contains(&p.at_s) {
            let remedy = "give seconds relative to the nodes' start, from -3600 to 86400";
            return Err(doc.error(&key("at_s"), "out of range", remedy));
        }
        if p.for_s.is_some_and(|s| !(0.1..=1e6).contains(&s)) {
            let remedy = "give 0.1 to 1000000 s, or remove the key";
            return Err(doc.error(&key("for_s"), "out of range", remedy));
        }
    }
    Ok(())
}
