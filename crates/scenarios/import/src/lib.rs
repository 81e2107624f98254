//! Scenarios from recordings of other tools and field runs: tracks, traffic, links.
//!
//! * [`gpx`], [`kml`], [`nmea`], [`csv`]: drives and walks. [`fcd`]: SUMO's vehicles. [`eel`]: EMANE's events.
//!   [`core_xml`]: CORE's sessions. [`pcapng`]: the traffic in captures. [`run`]: a field run's tracks, traffic and
//!   measured links. [`ns2_script()`]: what `ns` recorded from a whole script.
//! * `tracks` builds a scenario from positions and times, without those that `places` and `globe` find wrong; `flows`
//!   from packets, `streams` and `run_tcp` from TCP's. [`text`] decodes, `xml` reads XML, `moment` dates, and `notes`
//!   counts what is skipped.
//!
//! Each function takes the content of the files, and returns a scenario's keys with the files that it names. What is
//! not understood is skipped and counted, with its lines; a file without any usable content is refused.

mod columns;
mod core_xml;
mod csv;
mod eel;
mod fcd;
mod flows;
mod globe;
mod gpx;
mod kml;
mod links;
mod losses;
mod moment;
mod nmea;
mod nmea_sentence;
mod notes;
mod ns2_script;
mod pcapng;
mod places;
mod run;
mod run_settings;
mod run_tcp;
mod streams;
mod text;
mod track;
mod tracks;
mod xml;

use std::path::Path;

use toml::{Table, Value};
use wayhop_document::Omissions;

pub use core_xml::core_xml;
pub use csv::csv;
pub use eel::eel;
pub use fcd::{FcdCoordinates, fcd};
pub use globe::Heights;
pub use gpx::gpx;
pub use kml::kml;
pub use nmea::nmea;
pub use ns2_script::{NS2_RECORDER, ns2_script};
pub use pcapng::pcapng;
pub use run::run;
pub use text::text;
pub use wayhop_document::Error;

/// An imported scenario.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportedScenario {
    /// The scenario's keys.
    pub table: Table,
    /// Files that belong to it, by name: their ends are added to the scenario's own name.
    pub files: Vec<(String, String)>,
    /// What could not be read, one list per file.
    pub skipped: Vec<Omissions>,
    /// What else the user should know: content without a counterpart in a scenario, and choices that were made.
    pub remarks: Vec<String>,
}

/// A file's name and its text.
pub type NamedText<'a> = (&'a Path, &'a str);

impl ImportedScenario {
    /// Sets the scenario's own name, with which the names of its files begin.
    pub fn name_files(&mut self, stem: &str) {
        if let Some(Value::String(path)) = self.table.get_mut("movement").and_then(|m| m.get_mut("path")) {
            path.insert_str(0, stem);
        }
        let Some(Value::Array(traffic)) = self.table.get_mut("traffic") else { return };
        for flow in traffic.iter_mut().filter_map(Value::as_table_mut) {
            if let Some(Value::String(path)) = flow.get_mut("path") {
                path.insert_str(0, stem);
            }
        }
    }

    #[cfg(test)]
    fn node_names(&self) -> Vec<&str> {
        let nodes = self.table["nodes"]["node"].as_array().unwrap();
        nodes.iter().map(|n| n["name"].as_str().unwrap()).collect()
    }

    /// The flow of a scenario that has one.
    #[cfg(test)]
    fn flow(&self) -> &toml::Value {
        let [flow] = &self.table["traffic"].as_array().unwrap()[..] else { panic!("one flow: {self:?}") };
        flow
    }
}

/// A number of something, for a remark.
fn counted(n: usize, one: &str, several: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { several })
}

fn table<'a>(entries: impl IntoIterator<Item = (&'a str, Value)>) -> Table {
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// What a file is called, without its folder and its ending.
fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    name.split('.').next().unwrap_or_default().to_owned()
}
