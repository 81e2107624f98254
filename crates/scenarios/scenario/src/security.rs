//! The keys of `[security]`.

use core::fmt;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use wayhop_auth::{Auth, Key, Keys, MAX_KEY, MAX_KEYS, MIN_KEY};
use wayhop_core::Description;
use wayhop_document::{Document, Result};

/// What replaces a key where a scenario is written.
const HIDDEN: &str = "(hidden)";
const MAX_FILE: u64 = 65_536;

/// Authentication of routing messages: `docs/concepts/authentication.md`. Without keys it is disabled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Security {
    /// The keys shared by all nodes. The first one signs and all of them verify, so that nodes can change keys one
    /// after the other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keys: Vec<SharedKey>,
    /// A file with a list `keys` like this one, which keeps keys out of scenarios and configurations; a relative path
    /// is relative to the folder of the file that names it.
    pub keys_file: Option<PathBuf>,
    /// Whether DSR's data packets are authenticated too: nodes learn routes from them. Default: true.
    pub data: Option<bool>,
}

/// A key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SharedKey {
    /// Its number, carried in packets: 0 to 255.
    pub id: u8,
    /// The key: 32 to 128 hexadecimal digits. It never appears in run directories or messages.
    pub key: Secret,
}

/// Text that is read and never written.
#[derive(Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Secret(String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}
impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(HIDDEN)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeysFile {
    keys: Vec<SharedKey>,
}

impl Security {
    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The keys with which this protocol's messages are authenticated; `None` if none are given. Fails if one is no
    /// key, if the file of keys is none, or if the protocol has no use for keys.
    pub fn load(&self, protocol: &Description, doc: &Document) -> Result<Option<Keys>> {
        let keys = self.keys(doc)?;
        if keys.is_some() && !Auth::supports(protocol) {
            let key = if self.keys_file.is_some() { "security.keys_file" } else { "security.keys" };
            let able = wayhop_protocols::ALL.iter().filter(|d| Auth::supports(d));
            let able: Vec<&str> = able.map(|d| d.name).collect();
            let reason = format!("protocol {} has no messages to authenticate", protocol.name);
            let remedy = format!("remove `security`, or use one of the protocols {}", able.join(", "));
            return Err(doc.error(key, reason, remedy));
        }
        Ok(keys)
    }

    fn keys(&self, doc: &Document) -> Result<Option<Keys>> {
        let from_file = self.keys_file.as_deref().map(|path| read(path, doc)).transpose()?;
        match (&from_file, self.keys.is_empty()) {
            (Some(_), false) => {
                Err(doc.error("security.keys_file", "`security.keys` is set too", "keep one of the two"))
            }
            (None, true) if self.data.is_some() => {
                let remedy = "set `security.keys`, or remove this key";
                Err(doc.error("security.data", "there are no keys", remedy))
            }
            (None, true) => Ok(None),
            (None, false) => self.checked(&self.keys, "security.keys", doc).map(Some),
            (Some((file, keys)), true) => self.checked(keys, "keys", file).map(Some),
        }
    }

    fn checked(&self, given: &[SharedKey], list: &str, doc: &Document) -> Result<Keys> {
        let mut keys = Vec::with_capacity(given.len());
        for (i, k) in given.iter().enumerate() {
            let key = wayhop_core::from_hex(&k.key.0).and_then(|octets| Key::new(k.id, &octets));
            let Some(key) = key else {
                let reason = format!("this is not {} to {} hexadecimal digits", 2 * MIN_KEY, 2 * MAX_KEY);
                let remedy = "generate one with: openssl rand -hex 32";
                return Err(doc.error(&format!("{list}[{i}].key"), reason, remedy));
            };
            if given[..i].iter().any(|other| other.id == k.id) {
                let reason = format!("another key already has the number {}", k.id);
                return Err(doc.error(&format!("{list}[{i}].id"), reason, "give each key its own number"));
            }
            keys.push(key);
        }
        let many = || {
            let reason = format!("{} keys given", given.len());
            doc.error(list, reason, format!("give 1 to {MAX_KEYS}"))
        };
        Keys::new(keys, self.data.unwrap_or(true)).ok_or_else(many)
    }

    /// As `path.key=value` settings of a node's configuration, without the keys themselves.
    pub(crate) fn settings(&self, doc: &Document) -> Vec<String> {
        let mut sets = Vec::new();
        if let Some(path) = &self.keys_file {
            let path = beside(path, doc);
            sets.push(format!(
                "security.keys_file={}",
                toml::Value::from(path.to_string_lossy().into_owned())
            ));
        }
        sets.extend(self.data.map(|on| format!("security.data={on}")));
        sets
    }

    /// The list `keys` in the form of a file of keys, with the keys; `None` if it is empty. Not for command lines,
    /// which other users can see.
    pub fn keys_text(&self) -> Option<String> {
        let one = |k: &SharedKey| format!("{{id={}, key={}}}", k.id, toml::Value::from(k.key.0.as_str()));
        let list: Vec<String> = self.keys.iter().map(one).collect();
        (!list.is_empty()).then(|| format!("keys=[{}]", list.join(", ")))
    }
}

/// An argument of a command line in the form that may be shown: settings of keys lose their value.
pub fn without_keys(word: &str) -> String {
    let setting = word.strip_prefix("--set=").unwrap_or(word);
    match setting.split_once('=') {
        Some((key, _)) if is_keys(key) => {
            let shown = word.len() - setting.len() + key.len();
            format!("{}={HIDDEN}", &word[..shown])
        }
        _ => word.to_owned(),
    }
}

/// Whether a setting's key is `security`, `security.keys`, or one below it.
fn is_keys(key: &str) -> bool {
    let mut parts = key.split(['.', '[']).map(|part| part.trim().trim_matches(['"', '\'']));
    parts.next() == Some("security") && matches!(parts.next(), None | Some("keys"))
}

/// A path that counts from a file's folder.
fn beside(path: &Path, doc: &Document) -> PathBuf {
    let path = doc.folder().join(path);
    std::path::absolute(&path).unwrap_or(path)
}

fn read(path: &Path, doc: &Document) -> Result<(Document, Vec<SharedKey>)> {
    let path = beside(path, doc);
    let unreadable = |why: String| {
        let reason = format!("{}: {why}", path.display());
        doc.error("security.keys_file", reason, "name a readable file with a list `keys`")
    };
    let len = std::fs::metadata(&path).map_err(|e| unreadable(e.to_string()))?.len();
    if len > MAX_FILE {
        return Err(unreadable(format!("it is longer than {MAX_FILE} bytes")));
    }
    let text = std::fs::read_to_string(&path).map_err(|e| unreadable(e.to_string()))?;
    let file = Document::new(Some(&path), text);
    // Errors of the parser quote lines of the file, which have keys in them.
    let keys: KeysFile = toml::from_str(file.text()).map_err(|e: toml::de::Error| {
        let line =
            e.span().map_or(1, |s| 1 + file.text()[..s.start.min(file.text().len())].matches('\n').count());
        unreadable(format!("line {line}: {}", e.message()))
    })?;
    Ok((file, keys.keys))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scenario;

    const KEY: &str = "000102030405060708090a0b0c0d0e0f";

    const PAIR: &str = "nodes.count = 2\nmovement = { kind = \"chain\", spacing_m = 100 }\n";

    fn scenario(security: &str) -> Scenario {
        Scenario::from_text(&format!("{PAIR}[security]\n{security}\n"), &[]).unwrap()
    }

    #[test]
    fn nothing_that_is_written_shows_a_key() {
        let s = scenario(&format!("keys = [{{ id = 3, key = \"{KEY}\" }}]"));
        let keys = s.resolve().unwrap().keys.unwrap();
        assert!(keys.data && keys.ids().eq([3]));
        for shown in [format!("{:?}", s.security), format!("{keys:?}"), toml::to_string(&s).unwrap()] {
            assert!(!shown.contains(KEY), "{shown}");
        }
        assert!(toml::to_string(&s).unwrap().contains(HIDDEN));
    }

    #[test]
    fn a_command_line_is_shown_without_keys() {
        for (word, shown) in [
            ("security.keys=[{id=1, key=\"00\"}]", "security.keys=(hidden)"),
            ("--set=security.keys=[]", "--set=security.keys=(hidden)"),
            ("security={keys=[]}", "security=(hidden)"),
            ("\"security\" . keys[0].key=\"00\"", "\"security\" . keys[0].key=(hidden)"),
            ("security.keys_file=k.toml", "security.keys_file=k.toml"),
            ("nodes.count=2", "nodes.count=2"),
            ("--quiet", "--quiet"),
        ] {
            assert_eq!(without_keys(word), shown);
        }
    }

    #[test]
    fn a_wrong_key_is_named_with_its_line_and_not_shown() {
        for (keys, says) in [
            ("keys = [{ id = 1, key = \"0001\" }]".to_owned(), "32 to 128 hexadecimal digits"),
            (format!("keys = [{{ id = 1, key = \"{KEY}\" }}, {{ id = 1, key = \"{KEY}\" }}]"), "number 1"),
            ("data = true".to_owned(), "no keys"),
            ("keys_file = \"/nonexistent/keys\"".to_owned(), "/nonexistent/keys"),
        ] {
            let e = scenario(&keys).resolve().unwrap_err().to_string();
            assert!(e.contains(says) && e.contains("security") && !e.contains(KEY), "{e}");
        }
    }

    #[test]
    fn a_protocol_whose_messages_cannot_be_authenticated_has_no_keys() {
        let mut s = scenario(&format!("keys = [{{ id = 1, key = \"{KEY}\" }}]\n[protocol]\nname = \"none\""));
        let e = s.resolve().unwrap_err().to_string();
        assert!(e.starts_with("4:") || e.contains(":4:") || e.contains("line 4"), "{e}");
        let said = ["security.keys", "protocol none", "dsr, aodv, dsdv"];
        assert!(said.iter().all(|says| e.contains(says)), "{e}");
        for signs in ["dsr", "aodv", "dsdv"] {
            s.protocol.name = signs.to_owned();
            assert!(s.resolve().unwrap().keys.is_some(), "{signs}");
        }
        s.protocol.name = "none".to_owned();
        s.security = Security::default();
        assert!(s.resolve().unwrap().keys.is_none());
    }

    /// As `--protocol none` does, and `--set`.
    #[test]
    fn keys_are_not_forgotten_when_another_protocol_is_chosen_for_a_run() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.toml");
        std::fs::write(&path, format!("{PAIR}security.keys = [{{ id = 1, key = \"{KEY}\" }}]\n")).unwrap();
        let resolve = |name: &str| {
            Scenario::load(&path, &[format!("protocol.name={name}")]).unwrap().resolve().map(|r| r.keys)
        };
        assert!(resolve("aodv").unwrap().is_some());
        let e = resolve("none").unwrap_err().to_string();
        for says in ["s.toml:3:", "security.keys", "protocol none", "remove `security`, or use one of"] {
            assert!(e.contains(says), "{says}: {e}");
        }
        assert!(!e.contains(KEY));
    }

    #[test]
    fn a_file_of_keys_counts_from_the_folder_of_its_scenario_and_its_errors_show_no_key() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("keys.toml");
        let path = dir.path().join("s.toml");
        std::fs::write(&path, format!("{PAIR}security.keys_file = \"keys.toml\"\n")).unwrap();
        std::fs::write(&file, format!("keys = [{{ id = 9, key = \"{KEY}\" }}]")).unwrap();
        let load = || Scenario::load(&path, &[]).unwrap().resolve();
        assert!(load().unwrap().keys.unwrap().ids().eq([9]));
        std::fs::write(&file, format!("\nkeys = [{{ id = 900, key = \"{KEY}\" }}]")).unwrap();
        let e = load().unwrap_err().to_string();
        assert!(e.contains("line 2") && !e.contains(KEY), "{e}");
    }
}
