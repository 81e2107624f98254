//! A node's changes at an interface and the state before, in a file that outlives the node.
//!
//! Text, one change per line, in the order of the changes. The first line says when and where: the boot of
//! the host, the interface's number and name. An incomplete last line is of a change that was not made.

use std::fmt;
use std::net::Ipv4Addr;

/// What the first line begins with: the format and its version.
const HEAD: &str = "wayhop-undo 1";
/// Longest list, octets.
pub(crate) const MAX_LIST: u64 = 64 << 10;

/// The changes to undo at an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndoList {
    /// The kernel's number of the boot: what was changed before another one is gone.
    pub(crate) boot: String,
    pub(crate) index: u32,
    pub(crate) interface: String,
    pub(crate) changes: Vec<UndoChange>,
}

/// Something that the node changes, or may change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UndoChange {
    /// It makes routes by the interface.
    Routes,
    /// It confines what comes by the interface.
    Rules,
    /// It leads what this host sends to the outside of the mesh, by the TUN of this number.
    OwnOutside(u32),
    /// It gives the interface this address.
    Address(Ipv4Addr),
    /// It leads what this host sends from this address by an interface of its own.
    Source(Ipv4Addr),
    Setting(Setting),
    /// A setting of another interface, which is not in the mesh.
    Elsewhere(String, Setting),
    /// It makes a table of nftables.
    Table(String),
    /// It makes a control socket.
    Socket(String),
}

/// A setting of the kernel that gets another value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) family: Family,
    /// The one for all interfaces, not this interface's.
    pub(crate) of_all: bool,
    pub(crate) name: String,
    pub(crate) old: String,
    pub(crate) new: String,
}

/// Version of IP.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    V4,
    V6,
}

/// Why a text is no list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong there.
    pub reason: String,
}

impl fmt::Display for ListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

impl UndoList {
    /// Reads a list. None if its first line was never finished: then nothing was changed.
    ///
    /// # Errors
    /// If the octets are no list: in which line.
    pub fn parse(octets: &[u8]) -> Result<Option<Self>, ListError> {
        if octets.len() as u64 > MAX_LIST {
            let reason = format!("longer than {MAX_LIST} bytes");
            return Err(ListError { line: 1, reason });
        }
        let Some(end) = octets.iter().rposition(|b| *b == b'\n') else { return Ok(None) };
        let mut list: Option<Self> = None;
        for (i, line) in octets[..end].split(|b| *b == b'\n').enumerate() {
            let wrong = |reason| ListError { line: i + 1, reason };
            let line = std::str::from_utf8(line).map_err(|_| wrong("not text".to_owned()))?;
            match &mut list {
                None => list = Some(head(line).map_err(wrong)?),
                Some(list) => list.changes.push(change(line).map_err(wrong)?),
            }
        }
        Ok(list)
    }

    /// The first line.
    pub(crate) fn head(&self) -> String {
        format!("{HEAD} {} {} {}\n", self.boot, self.index, self.interface)
    }
}

impl fmt::Display for UndoList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.head())?;
        self.changes.iter().try_for_each(|c| writeln!(f, "{c}"))
    }
}

impl fmt::Display for UndoChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Routes => f.write_str("routes"),
            Self::Rules => f.write_str("rules"),
            Self::OwnOutside(tun) => write!(f, "own-outside {tun}"),
            Self::Address(addr) => write!(f, "address {addr}"),
            Self::Source(addr) => write!(f, "source {addr}"),
            Self::Setting(setting) => write!(f, "set {setting}"),
            Self::Elsewhere(interface, setting) => write!(f, "set-at {interface} {setting}"),
            Self::Table(name) => write!(f, "table {name}"),
            Self::Socket(path) => write!(f, "unlink {path}"),
        }
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { family, of_all, name, old, new } = self;
        let family = if *family == Family::V4 { "ipv4" } else { "ipv6" };
        let of = if *of_all { "all" } else { "own" };
        write!(f, "{family} {of} {name} {old} {new}")
    }
}

impl UndoChange {
    /// Whether it can be written and read again.
    pub(crate) fn check(&self) -> Result<(), String> {
        change(&self.to_string()).map(drop)
    }
}

fn head(line: &str) -> Result<UndoList, String> {
    let words: Vec<&str> = line.split(' ').collect();
    let [format, version, boot, index, interface] = words[..] else {
        return Err(format!("{line:?} is not \"{HEAD} BOOT INDEX INTERFACE\""));
    };
    if HEAD.split_once(' ') != Some((format, version)) {
        return Err(format!("it begins with {:?}, not with {HEAD:?}", format!("{format} {version}")));
    }
    if boot.is_empty() || boot.len() > 64 || !boot.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-') {
        return Err(format!("{boot:?} is not a boot ID"));
    }
    let index = index.parse().ok().filter(|i| *i > 0);
    let index = index.ok_or_else(|| format!("{:?} is not an interface index", words[3]))?;
    if !crate::config::interface_name::is_interface_name(interface) {
        return Err(format!("{interface:?} is not an interface name"));
    }
    Ok(UndoList { boot: boot.to_owned(), index, interface: interface.to_owned(), changes: Vec::new() })
}

fn change(line: &str) -> Result<UndoChange, String> {
    let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
    match verb {
        "routes" if line == verb => Ok(UndoChange::Routes),
        "rules" if line == verb => Ok(UndoChange::Rules),
        "own-outside" => match rest.parse() {
            Ok(tun) if tun > 0 => Ok(UndoChange::OwnOutside(tun)),
            _ => Err(format!("{rest:?} is not an interface index")),
        },
        "address" => address(rest).map(UndoChange::Address),
        "source" => address(rest).map(UndoChange::Source),
        "set" => setting(rest).map(UndoChange::Setting),
        "set-at" => {
            let (interface, rest) = rest.split_once(' ').unwrap_or((rest, ""));
            if !crate::config::interface_name::is_interface_name(interface) || interface == "all" {
                return Err(format!("{interface:?} is not an interface name"));
            }
            setting(rest).map(|s| UndoChange::Elsewhere(interface.to_owned(), s))
        }
        "table" if is_table(rest) => Ok(UndoChange::Table(rest.to_owned())),
        "table" => Err(format!("{rest:?} is not the name of a node's table")),
        // A path may have spaces in it.
        "unlink" if rest.starts_with('/') && !rest.chars().any(char::is_control) => {
            Ok(UndoChange::Socket(rest.to_owned()))
        }
        "unlink" => Err(format!("{rest:?} is not an absolute path")),
        _ => Err(format!("{line:?} is not a change")),
    }
}

fn address(word: &str) -> Result<Ipv4Addr, String> {
    word.parse().map_err(|_| format!("{word:?} is not an IPv4 address"))
}

/// A node's own tables begin with its program's name: no list has another one removed.
fn is_table(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    name.starts_with("wayhop_") && name.len() <= 32 && name.bytes().all(plain)
}

fn setting(words: &str) -> Result<Setting, String> {
    let words: Vec<&str> = words.split(' ').collect();
    let [family, of, name, old, new] = words[..] else {
        return Err("it is not \"set ipv4|ipv6 all|own NAME OLD NEW\"".to_owned());
    };
    let family = match family {
        "ipv4" => Family::V4,
        "ipv6" => Family::V6,
        _ => return Err(format!("{family:?} is neither ipv4 nor ipv6")),
    };
    let of_all = match of {
        "all" => true,
        "own" => false,
        _ => return Err(format!("{of:?} is neither all nor own")),
    };
    // It becomes a part of a path.
    if !(1..=64).contains(&name.len()) || !name.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'_'))
    {
        return Err(format!("{name:?} is not a setting"));
    }
    for value in [old, new] {
        if value.parse::<i64>().map(|n| n.to_string()).as_deref() != Ok(value) {
            return Err(format!("{value:?} is not an integer"));
        }
    }
    Ok(Setting { family, of_all, name: name.to_owned(), old: old.to_owned(), new: new.to_owned() })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LIST: &str = "wayhop-undo 1 0c1f-2a 7 eth1\nroutes\naddress 10.0.0.3\nset ipv4 own forwarding 0 1\n\
                        set ipv6 all disable_ipv6 -1 1\nunlink /run/way hop/mesh0.sock\ntable wayhop_mesh0\n\
                        set-at eth0 ipv4 own forwarding 0 1\nsource 10.0.0.9\nown-outside 9\nrules\n";

    fn parse(text: &str) -> Result<Option<UndoList>, ListError> {
        UndoList::parse(text.as_bytes())
    }

    #[test]
    fn a_list_is_read_as_it_was_written() {
        let list = parse(LIST).expect("a list").expect("with a first line");
        assert_eq!((list.index, list.interface.as_str(), list.changes.len()), (7, "eth1", 10));
        assert_eq!(list.to_string(), LIST);
    }

    #[test]
    fn a_line_that_was_not_finished_says_nothing() {
        let whole = parse(LIST).expect("a list").expect("with a first line");
        let without_last = parse(LIST.trim_end()).expect("a list").expect("with a first line");
        assert_eq!(without_last.changes, whole.changes[..9]);
        for torn in ["", "wayhop-un", "wayhop-undo 1 0c1f-2a 7 eth1"] {
            assert_eq!(parse(torn), Ok(None), "{torn:?}");
        }
    }

    #[test]
    fn what_is_no_list_is_refused_with_its_line() {
        let head = "wayhop-undo 1 0c1f-2a 7 eth1\n";
        let long = format!("{head}{}", "routes\n".repeat(10_000));
        for (line, text) in [
            (1, "\n".to_owned()),
            (1, "wayhop-undo 2 0c1f-2a 7 eth1\n".to_owned()),
            (1, "wayhop-undo 1 0c1f-2a 0 eth1\n".to_owned()),
            (1, "wayhop-undo 1 0c1f-2a 7 ..\n".to_owned()),
            (1, "wayhop-undo 1 0c1f-2a 7 a/b\n".to_owned()),
            (1, long),
            (2, format!("{head}set ipv4 own ../../kernel/panic 0 1\n")),
            (2, format!("{head}set ipv4 own forwarding 0 one\n")),
            (2, format!("{head}set ipv4 eth0 forwarding 0 1\n")),
            (2, format!("{head}unlink mesh0.sock\n")),
            (2, format!("{head}table filter\n")),
            (2, format!("{head}table wayhop_a b\n")),
            (2, format!("{head}set-at all ipv4 own forwarding 0 1\n")),
            (2, format!("{head}set-at ../.. ipv4 own forwarding 0 1\n")),
            (2, format!("{head}address mesh0\n")),
            (2, format!("{head}source 10.0.0\n")),
            (2, format!("{head}own-outside mesh0\n")),
            (3, format!("{head}routes\nrm -r /\n")),
            (3, format!("{head}routes\n\n")),
        ] {
            let refused = parse(&text).expect_err(&text);
            assert_eq!(refused.line, line, "{text:?}: {refused}");
        }
        assert_eq!(UndoList::parse(b"wayhop-undo 1 0c 7 eth1\n\xff\n").expect_err("no text").line, 2);
    }

    proptest! {
        #[test]
        fn octets_are_refused_or_read_and_written_the_same(octets: Vec<u8>, at: usize, with: u8) {
            let mut changed = LIST.as_bytes().to_vec();
            let len = changed.len();
            changed[at % len] = with;
            for octets in [octets, changed] {
                match UndoList::parse(&octets) {
                    Ok(Some(list)) => {
                        let again = UndoList::parse(list.to_string().as_bytes());
                        prop_assert_eq!(again, Ok(Some(list)));
                    }
                    Ok(None) => {}
                    Err(e) => prop_assert!(e.line >= 1 && !e.reason.is_empty()),
                }
            }
        }
    }
}
