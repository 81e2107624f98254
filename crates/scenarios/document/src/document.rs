//! The TOML text of a configuration, and where in it each key is.

use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};

use wayhop_core::{nearest, plain};

use crate::error::{Error, LineColumn};
use crate::explain::{self, wrong_key};
use crate::input::read_text;

/// The TOML text from which a scenario, or another file with sections of one, was read. Empty for one that a program
/// built.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// The file, if there is one.
    pub path: Option<PathBuf>,
    text: String,
    /// The settings of the command line, each of the form `path.key=value`; they override the text.
    set: Vec<String>,
    /// Keys set neither by the text nor by a setting, but by an option of the command line that names ns-2's files.
    options: Vec<(&'static str, &'static str)>,
}

impl Document {
    /// Reads a file.
    pub fn load(path: &Path) -> Result<Self, Error> {
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

    /// Notes `sets`, each of the form `path.key=value`, so that errors about their keys do not point at the text.
    pub(crate) fn set_from_outside(&mut self, sets: &[String]) {
        self.set = sets.to_vec();
    }

    /// The text as it was read.
    pub fn text(&self) -> &str {
        &self.text
    }
    /// The settings of the command line, in order.
    pub(crate) fn settings(&self) -> &[String] {
        &self.set
    }
    /// Keys set by options, and these.
    pub(crate) fn options(&self) -> &[(&'static str, &'static str)] {
        &self.options
    }

    /// The text as a value of type `T`.
    pub fn deserialize<T: serde::de::DeserializeOwned>(&self) -> Result<T, Error> {
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
        let mut e = Error::new(reason, remedy).key(key);
        if let Some(path) = &self.path {
            e = e.in_file(path);
        }
        match self.locate(key) {
            Some(place) => e.at(place),
            None => e,
        }
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
                format!(
                    "`{}` is not a value",
                    explain::bare_word(self.text.get(span.start..).unwrap_or_default())
                )
            }
            _ => plain(message),
        }
    }

    /// The error of the TOML parser or of serde, in our terms.
    pub(crate) fn parse_error(&self, e: &toml::de::Error) -> Error {
        let message = e.message().trim().replace('\n', ", ");
        let mut quoted = message.split('`').skip(1).step_by(2);
        let unknown = message.starts_with("unknown field") || message.starts_with("unknown variant");
        let mut remedy = "correct the line; see docs/reference/scenario.md for all keys".to_owned();
        let mut place = e.span().map(|s| LineColumn::of(&self.text, s.start));
        if unknown && let Some(word) = quoted.next() {
            if let Some(meant) = nearest(word, quoted) {
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
        let mut error = Error::new(self.in_words(&message, e.span()), remedy);
        if let Some(path) = &self.path {
            error = error.in_file(path);
        }
        match place {
            Some(place) => error.at(place),
            None => error,
        }
    }
}

/// The unknown word that a message names.
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

/// Where `word` is, as a whole, in the table that `text` begins with.
fn find_word(text: &str, word: &str) -> Option<usize> {
    let end = text.find("\n[").map_or(text.len(), |i| i + 1);
    let part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    text[..end]
        .match_indices(word)
        .map(|(i, _)| i)
        .find(|&i| !text[..i].ends_with(part) && !text[i + word.len()..end].starts_with(part))
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
        d.set_from_outside(&[
            "protocol.name=olsr".into(),
            "traffic.0.src = 9".into(),
            "protocol.na=1".into(),
        ]);
        for (key, message) in [
            ("protocol.name", "protocol.name (from the command line): wrong; mend it"),
            ("traffic[0].src", "traffic[0].src (from the command line): wrong; mend it"),
            ("traffic[0].dst", "s.toml:5:1: traffic[0].dst: wrong; mend it"),
        ] {
            assert_eq!(d.error(key, "wrong", "mend it").to_string(), message);
        }
    }
}
