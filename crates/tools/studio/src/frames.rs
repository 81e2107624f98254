//! A packet's frames for the page and for Wireshark.

use serde_json::{Value, json};
use wayhop_core::file_name;
use wayhop_protocols::CLASSIFIER;
use wayhop_trace::{Excerpt, RunDir, dissect};

use crate::error::Error;
use crate::moments::Sighting;
use crate::sightings::{CaptureSearch, Captures};
use crate::story::{StoryQuery, told};

/// Frames that the page shows.
const MOST_SHOWN: usize = 300;
/// Octets of a frame that the page shows.
const MOST_OCTETS: usize = 512;
/// Octets of a capture to download.
const MOST_FILE: usize = 16 << 20;
const MOST_NAMED: usize = 20;

/// Of an open run: what frames are looked for in.
pub(crate) struct Source<'a> {
    pub(crate) run: &'a RunDir,
    pub(crate) names: &'a [String],
    pub(crate) captures: &'a Captures,
}

impl Source<'_> {
    fn found(&self, asked: &StoryQuery) -> Result<(u64, CaptureSearch), Error> {
        // A request and its reply have the same number in their flow: the first one is meant.
        let stories = told(self.run, asked.wanted()?)?;
        let story = stories.first().expect("told has at least one");
        Ok((story.packet, self.captures.of_packet(self.run, self.names, story)?))
    }

    fn name(&self, node: u32) -> &str {
        self.names.get(node as usize).map_or("?", String::as_str)
    }

    /// The frames layer by layer, and the name of the file that has them.
    pub(crate) fn decoded(&self, asked: &StoryQuery) -> Result<Value, Error> {
        let (packet, found) = self.found(asked)?;
        let one = |s: &Sighting| {
            let mut v = dissect(&s.frame, CLASSIFIER);
            let octets = &s.frame.bytes[..s.frame.bytes.len().min(MOST_OCTETS)];
            v["time_ns"] = json!(s.frame.time_ns.map(|t| t.saturating_sub(found.time_zero_ns)));
            v["node"] = json!(s.node);
            v["octets"] = json!(wayhop_core::hex(octets));
            v
        };
        let without = found.without_capture.iter().take(MOST_NAMED);
        Ok(json!({
            "frames": found.frames.iter().take(MOST_SHOWN).map(one).collect::<Vec<_>>(),
            "all": found.frames.len(),
            "more": found.more,
            "without_capture": without.collect::<Vec<_>>(),
            "problems": found.problems,
            "file": self.file(packet),
        }))
    }

    /// A capture of the frames, an interface a node, and its name.
    pub(crate) fn capture(&self, asked: &StoryQuery) -> Result<(String, Vec<u8>), Error> {
        let (packet, found) = self.found(asked)?;
        let mut file = Excerpt::default();
        for s in &found.frames {
            // A node with several interfaces has each of them.
            let name = match s.frame.interface {
                0 => self.name(s.node).to_owned(),
                n => format!("{} interface {n}", self.name(s.node)),
            };
            if file.size() + s.frame.bytes.len() > MOST_FILE {
                break;
            }
            file.put(&name, &s.frame);
        }
        Ok((self.file(packet), file.finish()))
    }

    fn file(&self, packet: u64) -> String {
        let run = self.run.path().file_name().map_or_else(|| "run".into(), |n| n.to_string_lossy());
        // Headers are ASCII.
        let run = file_name(&run).replace(|c: char| !c.is_ascii(), "_");
        format!("{run}-packet-{packet}.pcapng")
    }
}
