//! The macfilter setting: a lab's file, and the cards that its link addresses stand for here.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::path::PathBuf;

use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_core::Mac;
use wayhop_document::{Document, Error};
use wayhop_linux::ebpf::IgnoringProgram;
use wayhop_scenario::{Ignores, MacFilter};

/// More nodes than any file is for: here nobody knows how many there are.
const NODES: usize = 1 << 16;
/// The longest file, octets.
const LONGEST: u64 = 64 << 20;

/// Which nodes' frames are ignored, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MacFilterConfig {
    /// A file as read by `wayhop lab` and written by `wayhop export macfilter` and `wayhop import
    /// run`. Its times count from the node's start.
    pub file: PathBuf,
    /// Which node of the file this host is, if `--as` is not given.
    pub node: Option<u32>,
    /// The real card's link address for one in the file, such as `"02:00:0a:00:00:03" =
    /// "3c:a9:f4:00:11:22"`: nodes of a lab have 02:00 and their IPv4 address. Addresses that are
    /// not listed are those of the cards.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub link_addresses: BTreeMap<String, String>,
}

impl MacFilterConfig {
    /// What the node ignores from when on, and all link addresses of the file, as many as a kernel's filter has room for.
    pub(crate) fn load(&self, doc: &Document) -> Result<(Vec<Ignores>, Vec<Mac>), Error> {
        let Some(node) = self.node else {
            let remedy = "set macfilter.node, or use --as NODE with a scenario";
            let what = format!("no node of {} is selected for this host", self.file.display());
            return Err(doc.error("macfilter.file", what, remedy));
        };
        let here = self.real_addresses(doc)?;
        let path = doc.folder().join(&self.file);
        let failed =
            |e: String| doc.error("macfilter.file", e, "give a file written by `wayhop export macfilter`");
        let mut text = String::new();
        let read = File::open(&path).and_then(|f| f.take(LONGEST + 1).read_to_string(&mut text));
        match read {
            Err(e) if e.kind() == ErrorKind::InvalidData => Err("is not UTF-8 text".to_owned()),
            Err(e) => Err(e.to_string()),
            Ok(n) if n as u64 > LONGEST => Err(format!("is longer than {LONGEST} bytes")),
            Ok(_) => Ok(()),
        }
        .map_err(|e| failed(format!("{}: {e}", path.display())))?;
        let all = MacFilter::parse(&text, NODES).map_err(|e| failed(format!("{}:{e}", path.display())))?;
        let mut steps: Vec<Ignores> = all.of(node).cloned().collect();
        for mac in steps.iter_mut().flat_map(|s| &mut s.from) {
            *mac = here.get(mac).copied().unwrap_or(*mac);
        }
        if steps.is_empty() {
            let reason = format!("{} has no line for node {node}", path.display());
            return Err(doc.error("macfilter.node", reason, "give the number of one of its nodes"));
        }
        let own = named(&steps);
        if own.len() > IgnoringProgram::MOST {
            let count = own.len();
            let reason = format!("node {node} ignores {count} link addresses in all");
            let remedy = format!("give at most {}", IgnoringProgram::MOST);
            return Err(doc.error("macfilter.file", reason, remedy));
        }
        let real = |mac: Mac| here.get(&mac).copied().unwrap_or(mac);
        let others = all.link_addresses().into_iter().map(real).filter(|mac| !own.contains(mac));
        let cards = own.iter().copied().chain(others).take(IgnoringProgram::MOST).collect();
        Ok((steps, cards))
    }

    /// The real card for an address of the file.
    fn real_addresses(&self, doc: &Document) -> Result<FxHashMap<Mac, Mac>, Error> {
        let parse = |text: &String| {
            text.parse().map_err(|e| {
                let remedy = "give two such as \"02:00:0a:00:00:03\" = \"3c:a9:f4:00:11:22\"";
                doc.error("macfilter.link_addresses", e, remedy)
            })
        };
        self.link_addresses.iter().map(|(a, b)| Ok((parse(a)?, parse(b)?))).collect()
    }
}

/// All link addresses that are ever ignored, each once.
pub(crate) fn named(steps: &[Ignores]) -> Vec<Mac> {
    let mut all: Vec<Mac> = steps.iter().flat_map(|s| s.from.iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    all
}
