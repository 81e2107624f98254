//! From files and arguments to a [`Scenario`].

use std::io::Read;
use std::path::Path;

use serde::de::DeserializeOwned;
use toml::{Table, Value};

use crate::bonnmotion::BonnMotion;
use crate::document::{Document, apply_set};
use crate::error::Error;
use crate::input::{read_all, read_text};
use crate::schema::Scenario;

/// What messages call standard input.
const STANDARD_INPUT: &str = "<stdin>";

impl Scenario {
    /// Reads a TOML file and applies `sets`, each of the form `path.key=value`, on top.
    pub fn load(path: &Path, sets: &[String]) -> Result<Self, Error> {
        Self::of_file(path, read_text(path)?, sets)
    }

    /// Takes `text` for what the file holds, whatever it does.
    pub fn of_file(path: &Path, text: String, sets: &[String]) -> Result<Self, Error> {
        let mut scenario = Self::parse(Document::new(Some(path), text), sets)?;
        if scenario.name.is_empty() {
            scenario.name = stem(path);
        }
        Ok(scenario)
    }

    /// Reads TOML from a pipe and applies `sets`. Relative paths in it count from the working directory.
    pub fn read(input: impl Read, sets: &[String]) -> Result<Self, Error> {
        let name = Path::new(STANDARD_INPUT);
        let text = read_all(input).map_err(|e| e.in_file(name))?;
        let mut scenario = Self::parse(Document::new(Some(name), text), sets)?;
        if scenario.name.is_empty() {
            "stdin".clone_into(&mut scenario.name);
        }
        Ok(scenario)
    }

    /// Reads TOML text; relative paths in it count from the working directory.
    pub fn from_text(text: &str, sets: &[String]) -> Result<Self, Error> {
        Self::parse(Document::new(None, text.to_owned()), sets)
    }

    /// A scenario of a movement file, ns-2's or BonnMotion's, and perhaps a traffic file, with `sets`, each of the form `path.key=value`, on top.
    pub fn from_ns2(movement: &Path, traffic: Option<&Path>, sets: &[String]) -> Result<Self, Error> {
        let file = |path: &Path, kind: &str| -> Result<Table, Error> {
            let text = path
                .to_str()
                .ok_or_else(|| Error::new("the name is not UTF-8", "rename the file").in_file(path))?;
            Ok(Table::from_iter([("kind".into(), kind.into()), ("path".into(), text.into())]))
        };
        let kind = if BonnMotion::is_likely(&read_text(movement)?) { "bonnmotion" } else { "ns2" };
        if let Some(traffic) = traffic.filter(|_| kind != "ns2") {
            let wrong = "goes with a movement file of ns-2, and this one is BonnMotion's";
            let remedy = "name the flows in a scenario: `wayhop import bonnmotion` writes one";
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
        let scenario: Self = from_table(&table, sets, &document)?;
        document.set_from_outside(sets);
        Ok(Self { document, ..scenario })
    }

    fn parse(mut document: Document, sets: &[String]) -> Result<Self, Error> {
        let scenario: Self = document.deserialize_with(sets)?;
        Ok(Self { document, ..scenario })
    }
}

impl Document {
    /// The text as a value of type `T`, with `sets`, each of the form `path.key=value`, on top. Later errors about keys that
    /// these set do not point at the text.
    pub fn deserialize_with<T: DeserializeOwned>(&mut self, sets: &[String]) -> Result<T, Error> {
        let value = if sets.is_empty() {
            self.deserialize()?
        } else {
            let table = self.deserialize::<Table>()?;
            from_table(&table, sets, self).map_err(|e| {
                // If the file is wrong by itself, its own message knows the line. What it lacks may have been set.
                let own = self.deserialize::<T>().err().filter(|_| self.path.is_some());
                own.filter(|own| own.reason == e.reason || !own.is_of_a_missing_key()).unwrap_or(e)
            })?
        };
        self.set_from_outside(sets);
        Ok(value)
    }
}

fn from_table<T: DeserializeOwned>(table: &Table, sets: &[String], document: &Document) -> Result<T, Error> {
    let with = |sets: &[String]| -> Result<Result<T, toml::de::Error>, Error> {
        let mut table = table.clone();
        sets.iter().try_for_each(|set| apply_set(&mut table, set))?;
        Ok(T::deserialize(table))
    };
    let e = match with(sets)? {
        Ok(scenario) => return Ok(scenario),
        Err(e) => e,
    };
    let mut error = document.parse_error(&e);
    // The place would be one in the table, which is no text.
    error.place = None;
    if !sets.is_empty() {
        let base = with(&[])?.err();
        // What the text lacks no setting has taken away.
        if base.is_some_and(|b| [&b, &e].iter().all(|e| e.message().starts_with("missing field"))) {
            return Err(error);
        }
        // One that is wrong by itself, and in the same way, is the one to name.
        let wrong = |set: &&String| {
            let alone = with(std::slice::from_ref(*set));
            matches!(alone, Ok(Err(alone)) if alone.message() == e.message())
        };
        let named = sets.iter().find(wrong).map_or_else(|| sets.join(" --set "), Clone::clone);
        error.file = None;
        error.key = Some(format!("--set {named}"));
        error.remedy = error.remedy.replace("correct the line", "correct it");
    }
    Err(error)
}

fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    let end = name.rfind('.').filter(|&i| i > 0).unwrap_or(name.len());
    name[..end].to_owned()
}
