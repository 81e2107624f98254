//! From files and arguments to a [`Scenario`].

use std::io::Read;
use std::path::Path;

use toml::{Table, Value};
use wayhop_document::{Document, Error, Result, read_all, read_text};
use wayhop_simulator_files::BonnMotion;

use super::Scenario;

impl Scenario {
    /// Reads a TOML file and applies `sets`, each of the form `path.key=value`, on top.
    pub fn load(path: &Path, sets: &[String]) -> Result<Self> {
        Self::of_file(path, read_text(path)?, sets)
    }

    /// Reads `text` as the content of the file, whatever the file holds.
    pub fn of_file(path: &Path, text: String, sets: &[String]) -> Result<Self> {
        Self::named(path, text, sets, &stem(path))
    }

    /// Reads TOML from a pipe and applies `sets`. Relative paths in it count from the working directory.
    pub fn read(input: impl Read, sets: &[String]) -> Result<Self> {
        let path = Path::new("<stdin>");
        Self::named(path, read_all(input).map_err(|e| e.in_file(path))?, sets, "stdin")
    }

    /// Reads TOML text, such as that of a recorded run; relative paths in it count from the working directory. It loads no
    /// library: a scenario with one cannot be resolved.
    pub fn from_text(text: &str, sets: &[String]) -> Result<Self> {
        let mut document = Document::new(None, text.to_owned());
        let scenario: Self = document.deserialize_with(sets)?;
        Ok(Self { document, ..scenario })
    }

    /// A scenario of a movement file, ns-2's or BonnMotion's, and perhaps a traffic file, with `sets`, each of the form `path.key=value`, on top.
    pub fn from_ns2(movement: &Path, traffic: Option<&Path>, sets: &[String]) -> Result<Self> {
        let file = |path: &Path, kind: &str| -> Result<Table> {
            let text = path
                .to_str()
                .ok_or_else(|| Error::new("the name is not UTF-8", "rename the file").in_file(path))?;
            Ok(Table::from_iter([("kind".into(), kind.into()), ("path".into(), text.into())]))
        };
        let kind = if BonnMotion::is_likely(&read_text(movement)?) { "bonnmotion" } else { "ns2" };
        if let Some(traffic) = traffic.filter(|_| kind != "ns2") {
            let wrong = "requires an ns-2 movement file, but this one is BonnMotion's";
            let remedy = "put the flows into a scenario: `wayhop import bonnmotion` writes one";
            return Err(Error::new(wrong, remedy).in_file(traffic));
        }
        let mut table = Table::new();
        table.insert("name".into(), stem(movement).into());
        table.insert("movement".into(), file(movement, kind)?.into());
        let mut options = vec![("movement.kind", "--movement"), ("movement.path", "--movement")];
        if let Some(traffic) = traffic {
            table.insert("traffic".into(), Value::Array(vec![file(traffic, "ns2")?.into()]));
            options.extend([("traffic.0.kind", "--traffic"), ("traffic.0.path", "--traffic")]);
        }
        let mut document = Document::of_options(options);
        let mut scenario: Self = document.deserialize_table(&table, sets)?;
        scenario.protocol.load(&document)?;
        Ok(Self { document, ..scenario })
    }

    /// A scenario that has this name unless it says another one.
    fn named(path: &Path, text: String, sets: &[String], name: &str) -> Result<Self> {
        let mut scenario = Self::parse(Document::new(Some(path), text), sets)?;
        if scenario.name.is_empty() {
            name.clone_into(&mut scenario.name);
        }
        Ok(scenario)
    }

    fn parse(mut document: Document, sets: &[String]) -> Result<Self> {
        let mut scenario: Self = document.deserialize_with(sets)?;
        scenario.protocol.load(&document)?;
        for (k, application) in scenario.applications.iter_mut().enumerate() {
            application.load(&format!("applications[{k}]"), &document)?;
        }
        Ok(Self { document, ..scenario })
    }
}

fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    let end = name.rfind('.').filter(|&i| i > 0).unwrap_or(name.len());
    name[..end].to_owned()
}
