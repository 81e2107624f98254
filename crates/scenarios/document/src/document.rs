//! The TOML text of a configuration, and where in it each key is.

use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use toml::Table;
use toml::de::{DeTable, DeValue};
use wayhop_core::{nearest, plain};

use crate::error::{Error, LineColumn, Result};
use crate::explain::{self, wrong_key};
use crate::input::read_text;
use crate::set::apply_set;

/// The TOML text from which a scenario, or another file with sections of one, was read. Empty for one that a program
/// built.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// The file, if there is one.
    pub path: Option<PathBuf>,
    text: String,
    /// The settings of the command line, each of the form `path.key=value`; they override the text. Errors about their
    /// keys do not point at the text.
    pub(crate) set: Vec<String>,
    /// Keys set neither by the text nor by a setting, but by an option of the command line that names ns-2's files.
    pub(crate) options: Vec<(&'static str, &'static str)>,
}

impl Document {
    /// Reads a file.
    pub fn load(path: &Path) -> Result<Self> {
        Ok(Self::new(Some(path), read_text(path)?))
    }

    /// For this text, which is the content of `path` if it came from a file.
    pub fn new(path: Option<&Path>, text: String) -> Self {
        Self { path: path.map(Path::to_path_buf), text, set: Vec::new(), options: Vec::new() }
    }

    /// Without a text, for options that each set a key.
    pub fn of_options(options: Vec<(&'static str, &'static str)>) -> Self {
        Self { options, ..Self::default() }
    }

    /// The text as it was read.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text as a value of type `T`.
    pub fn deserialize<T: serde::de::DeserializeOwned>(&self) -> Result<T> {
        toml::from_str(&self.text).map_err(|e| {
            let error = self.parse_error(&e);
            if let Some((key, at)) = wrong_key::<T>(&self.text, &e) {
                return error.key(key).at(LineColumn::of(&self.text, at));
            }
            let place = if error.place.is_some() { self.place_in_list::<T>(&e) } else { None };
            place.map_or(error.clone(), |place| error.at(place))
        })
    }

    /// Where an unknown word is, or a key is missing, if that is in one of several tables of a list, such as `[[traffic]]`: serde reports the first one's
    /// header. The wrong table is the last of the shortest beginning of the list that has the error.
    fn place_in_list<T: serde::de::DeserializeOwned>(&self, e: &toml::de::Error) -> Option<LineColumn> {
        let word = unknown_word(e.message());
        if word.is_none() && !e.message().starts_with("missing field") {
            return None;
        }
        let table: toml::Table = toml::from_str(&self.text).ok()?;
        let lists = table.iter().filter_map(|(key, value)| Some((key, value.as_array()?)));
        let (key, index) = lists.filter(|(_, list)| list.len() > 1).find_map(|(key, list)| {
            let is_wrong = |length: usize| {
                let mut cut = table.clone();
                cut.insert(key.clone(), toml::Value::Array(list[..length].to_vec()));
                T::deserialize(cut).is_err_and(|own| own.message() == e.message())
            };
            if is_wrong(0) || !is_wrong(list.len()) {
                return None;
            }
            let (mut right, mut wrong) = (0, list.len());
            while wrong - right > 1 {
                let middle = right.midpoint(wrong);
                if is_wrong(middle) { wrong = middle } else { right = middle }
            }
            Some((key, right))
        })?;
        let own = self.offset(&format!("{key}[{index}]"))?;
        let Some(word) = word else { return Some(LineColumn::of(&self.text, own)) };
        match self.offset(&format!("{key}[{index}].{word}")).filter(|at| *at > own) {
            Some(at) => Some(LineColumn::of(&self.text, at)),
            None => Some(LineColumn::of(&self.text, own + find_word(self.text.get(own..)?, word)?)),
        }
    }

    /// The folder that relative paths count from.
    pub fn folder(&self) -> PathBuf {
        self.path.as_deref().and_then(Path::parent).map(Path::to_path_buf).unwrap_or_default()
    }

    /// An error about `key`, such as `traffic[2].src`, with the place of the deepest part of it that the text has.
    pub fn error(&self, key: &str, reason: impl Into<String>, remedy: impl Into<String>) -> Error {
        let dotted = key.replace('[', ".").replace(']', "");
        let within = |set: &String| {
            let key = set.split_once('=').map_or("", |(key, _)| key.trim());
            dotted.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        if self.set.iter().any(within) {
            return Error::new(reason, remedy).key(format!("{key} (from the command line)"));
        }
        Error { file: self.path.clone(), place: self.locate(key), ..Error::new(reason, remedy).key(key) }
    }

    fn locate(&self, key: &str) -> Option<LineColumn> {
        self.offset(key).map(|o| LineColumn::of(&self.text, o))
    }

    /// Where the deepest part of `key` that the text has begins.
    fn offset(&self, key: &str) -> Option<usize> {
        let root = DeTable::parse(&self.text).ok()?.into_inner();
        let mut offset = None;
        let mut here: Option<&DeValue<'_>> = None;
        for part in key.split(['.', '[', ']']).filter(|p| !p.is_empty()) {
            let table = here.map_or(Some(&root), DeValue::as_table);
            if let Some((k, v)) = table.and_then(|t| t.iter().find(|(k, _)| k.get_ref() == part)) {
                offset = Some(k.span().start);
                here = Some(v.get_ref());
            } else if let Some(v) = part.parse::<usize>().ok().and_then(|i| here?.as_array()?.get(i)) {
                offset = Some(v.span().start);
                here = Some(v.get_ref());
            } else {
                break;
            }
        }
        offset
    }

    /// A message of the TOML parser or of serde.
    fn in_words(&self, message: &str, span: Option<Range<usize>>) -> String {
        let untagged = message.strip_prefix("data did not match any variant of untagged enum ");
        let no_value =
            message.starts_with("invalid boolean") || message.starts_with("string values must be quoted");
        match (untagged, span) {
            (Some("NodeRef"), _) => {
                "this is not a node: use its number, from 0, or its name in quotes".to_owned()
            }
            (Some(_), _) => "the value has none of the supported forms".to_owned(),
            (None, Some(span)) if no_value => {
                let rest = self.text.get(span.start..).unwrap_or_default();
                format!("`{}` is not a value", explain::bare_word(rest))
            }
            _ => plain(message),
        }
    }

    /// The error of the TOML parser or of serde, in our terms.
    pub(crate) fn parse_error(&self, e: &toml::de::Error) -> Error {
        let message = e.message().trim().replace('\n', ", ");
        let mut remedy = "correct the line; see docs/reference/scenario.md for all keys".to_owned();
        let mut place = e.span().map(|s| LineColumn::of(&self.text, s.start));
        if let Some(word) = unknown_word(&message) {
            // serde says "unknown field `x`, expected `a` or `b`": behind the unknown word, every second part is a known one.
            if let Some(meant) = nearest(word, message.split('`').skip(3).step_by(2)) {
                remedy = format!("did you mean `{meant}`?");
            }
            // serde reports a tagged table by its header: find the word below it.
            if let Some(start) = e.span().map(|s| s.start)
                && let Some(at) = find_word(self.text.get(start..).unwrap_or_default(), word)
            {
                place = Some(LineColumn::of(&self.text, start + at));
            }
        } else if let Some(field) = message.strip_prefix("missing field `").and_then(|m| m.strip_suffix('`'))
        {
            remedy = format!("add {field}; see docs/reference/scenario.md for all keys");
        } else {
            let at = e.span().map_or(self.text.len(), |s| s.start);
            remedy = explain::remedy(&message, &self.text, at).unwrap_or(remedy);
        }
        Error { file: self.path.clone(), place, ..Error::new(self.in_words(&message, e.span()), remedy) }
    }
}

fn unknown_word(message: &str) -> Option<&str> {
    let is_so = message.starts_with("unknown field") || message.starts_with("unknown variant");
    message.split('`').nth(1).filter(|_| is_so)
}

/// A name that is not one of the known ones.
pub fn unknown_name<'a>(
    doc: &Document,
    key: &str,
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Error {
    let known: Vec<&str> = known.into_iter().collect();
    let list = known.join(", ");
    let remedy = match nearest(name, known) {
        Some(meant) => format!("did you mean `{meant}`? (known: {list})"),
        None => format!("use one of {list}"),
    };
    doc.error(key, format!("unknown name {name:?}"), remedy)
}

/// The remedy for an unknown name: the known one that was probably meant, or else `otherwise`.
pub fn nearest_or<'a>(
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
    otherwise: impl Into<String>,
) -> String {
    nearest(name, known).map_or_else(|| otherwise.into(), |meant| format!("did you mean {meant:?}?"))
}

/// Where `word` is, as a whole, in the table that `text` begins with.
fn find_word(text: &str, word: &str) -> Option<usize> {
    let end = text.find("\n[").map_or(text.len(), |i| i + 1);
    let part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    text[..end]
        .match_indices(word)
        .map(|(i, _)| i)
        .find(|&i| !text[..i].ends_with(part) && !text[i + word.len()..end].starts_with(part))
}

/// Refuses a value that is not a number from `low` to `high`; NaN never is. A key that is not set has none.
pub fn in_range<V: Copy + Into<Option<f64>>>(
    doc: &Document,
    key: &str,
    value: V,
    low: f64,
    high: f64,
) -> Result<V> {
    let Some(v) = value.into().filter(|v| !(low..=high).contains(v)) else { return Ok(value) };
    let shown = match v.abs() {
        a if a.is_nan() => "nan".to_owned(),
        a if a.is_finite() && a >= 1e16 => format!("{v:e}"),
        _ => v.to_string(),
    };
    let reason = format!("{shown} is not a number from {low} to {high}");
    Err(doc.error(key, reason, "give a number in that range"))
}

impl Document {
    /// The text as a value of type `T`, with `sets`, each of the form `path.key=value`, on top. Later errors about keys that
    /// these set do not point at the text.
    pub fn deserialize_with<T: DeserializeOwned>(&mut self, sets: &[String]) -> Result<T> {
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
        self.set = sets.to_vec();
        Ok(value)
    }

    /// The same for a table instead of a text.
    pub fn deserialize_table<T: DeserializeOwned>(&mut self, table: &Table, sets: &[String]) -> Result<T> {
        let value = from_table(table, sets, self)?;
        self.set = sets.to_vec();
        Ok(value)
    }
}

fn from_table<T: DeserializeOwned>(table: &Table, sets: &[String], document: &Document) -> Result<T> {
    let with = |sets: &[String]| -> Result<Result<T, toml::de::Error>> {
        let mut table = table.clone();
        sets.iter().try_for_each(|set| apply_set(&mut table, set))?;
        Ok(T::deserialize(table))
    };
    let e = match with(sets)? {
        Ok(value) => return Ok(value),
        Err(e) => e,
    };
    let mut error = document.parse_error(&e);
    // The position would be one in the table, which is no text.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_located() {
        let d = Document::new(
            None,
            "seed = 1\n[movement]\n  kind = \"chain\"\n[[traffic]]\nsrc = 1\n[[traffic]]\nsrc = 2\n".into(),
        );
        assert_eq!(d.locate("movement.kind"), Some(LineColumn { line: 3, column: 3 }));
        assert_eq!(d.locate("movement.nothing"), Some(LineColumn { line: 2, column: 2 }));
        assert_eq!(d.locate("traffic[1].src"), Some(LineColumn { line: 7, column: 1 }));
        assert_eq!(d.locate("nothing"), None);
    }

    #[test]
    fn an_error_about_a_key_that_the_command_line_set_does_not_point_at_the_file() {
        let text = "[protocol]\nname = \"dsr\"\n[[traffic]]\nsrc = 1\ndst = 2\n";
        let mut d = Document::new(Some(Path::new("s.toml")), text.into());
        d.set = ["protocol.name=olsr", "traffic.0.src = 9", "protocol.na=1"].map(str::to_owned).to_vec();
        for (key, message) in [
            ("protocol.name", "protocol.name (from the command line): wrong; mend it"),
            ("traffic[0].src", "traffic[0].src (from the command line): wrong; mend it"),
            ("traffic[0].dst", "s.toml:5:1: traffic[0].dst: wrong; mend it"),
        ] {
            assert_eq!(d.error(key, "wrong", "mend it").to_string(), message);
        }
    }
}
