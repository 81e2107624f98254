//! Protocols that are no part of the registry: those of libraries, and those of runs whose library is not at hand.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use wayhop_core::{Carrier, Class, Description, LibraryFile, MessageFormat, Ns2Format, ParameterError};

use crate::format::{NO_CARRIER, NO_ENGINE, NO_MESSAGES};
use crate::{ALL, formats};

/// Libraries that a process loads, and protocols of runs that it reads: a place is one byte.
const MOST: usize = 256 - Class::FIRST_FOREIGN as usize;

/// In the order in which they came. Their places begin at [`Class::FIRST_FOREIGN`].
static PLACES: [OnceLock<&'static Description>; MOST] = [const { OnceLock::new() }; MOST];

/// Loads the protocol of the library at `path`. From now on it is one of all protocols.
///
/// # Errors
/// Says what is wrong with the library, and what to do.
pub fn load(path: &Path) -> Result<&'static Description, String> {
    let description = wayhop_foreign::load(path)?;
    if formats().any(|(_, d)| d.name == description.name) {
        return Err(format!("its protocol has the name of a built-in one, {}; rename it", description.name));
    }
    if add(description) { Ok(description) } else { Err(too_many()) }
}

/// The file that a protocol comes from, if it comes from a library.
pub fn library(description: &Description) -> Option<LibraryFile> {
    wayhop_foreign::loaded().into_iter().find_map(|(d, file)| std::ptr::eq(d, description).then_some(file))
}

/// The file of the library that the name of a protocol means. `None` if it is no library's, or a built-in protocol's.
pub fn locate(name: &str) -> Option<Result<PathBuf, ParameterError>> {
    if ALL.iter().any(|d| d.name == name) { None } else { wayhop_foreign::locate(name) }
}

/// The name of a protocol on the command line: a path counts from the working directory, not from the scenario's folder.
pub fn absolute(name: &str) -> String {
    match locate(name) {
        Some(Ok(path)) => std::path::absolute(&path).unwrap_or(path).to_string_lossy().into_owned(),
        _ => name.to_owned(),
    }
}

/// The loaded protocol of this name.
pub(crate) fn find(name: &str) -> Option<&'static Description> {
    wayhop_foreign::loaded().into_iter().map(|(d, _)| d).find(|d| d.name == name)
}

/// All that are there, with their places.
pub(crate) fn placed() -> impl Iterator<Item = (u8, &'static Description)> {
    (Class::FIRST_FOREIGN..=u8::MAX).zip(PLACES.iter().map_while(|p| p.get().copied()))
}

/// The loaded protocol that knows the packets of this carrier, with its place. One without classes and types of messages leaves them
/// to a built-in format of the same carrier.
#[inline]
pub(crate) fn of_carrier(is_its: impl Fn(Carrier) -> bool) -> Option<(u8, &'static Description)> {
    let is_built_in = |carrier| formats().any(|(_, d)| d.messages.carrier == carrier);
    let knows = |d: &Description| {
        let MessageFormat { carrier, classes, types, .. } = &d.messages;
        let is_named = !classes.is_empty() || !types.is_empty();
        *carrier != NO_CARRIER && (is_named || !is_built_in(*carrier)) && is_its(*carrier)
    };
    placed().find(|(_, d)| knows(d))
}

/// Remembers the names of a protocol that a run directory lists.
///
/// # Errors
/// If rows of its packets cannot be read, because this process knows too many protocols.
pub(crate) fn learn(protocol: &str, classes: &[String], types: &[(u8, String)]) -> Result<(), String> {
    let is_known = |d: &Description| {
        let types = types.iter().map(|(bit, name)| (*bit, name.as_str()));
        d.name == protocol && d.messages.classes == classes && d.messages.types.iter().copied().eq(types)
    };
    // Trace hashes and tables have 16 classes and types.
    let fits = classes.len() <= 16 && types.len() <= 16 && types.iter().all(|(bit, _)| *bit < 16);
    if !fits || placed().any(|(_, d)| is_known(d)) {
        return Ok(());
    }
    if placed().count() == MOST {
        return Err(too_many());
    }
    // What is leaked is at most once for each place.
    let leak = |text: &String| -> &'static str { text.clone().leak() };
    let classes: Vec<&'static str> = classes.iter().map(leak).collect();
    let types: Vec<(u8, &'static str)> = types.iter().map(|(bit, name)| (*bit, leak(name))).collect();
    let name = leak(&protocol.to_owned());
    let description = Box::leak(Box::new(Description {
        name,
        full_name: name,
        specification: "a library",
        read: |_| Err("its library is not loaded".to_owned()),
        messages: MessageFormat {
            classes: classes.leak(),
            types: types.leak(),
            ns2: Ns2Format { tag: "library", tail: |_, _| {} },
            ..NO_MESSAGES
        },
        ..NO_ENGINE
    }));
    if add(description) { Ok(()) } else { Err(too_many()) }
}

fn too_many() -> String {
    format!(
        "this process knows {MOST} protocols of libraries already; read fewer runs at once, or restart it"
    )
}

/// Gives it a place, if it has none; false if all are taken.
fn add(description: &'static Description) -> bool {
    PLACES.iter().any(|place| std::ptr::eq(*place.get_or_init(|| description), description))
}
