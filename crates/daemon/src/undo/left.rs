//! What nodes left that were killed together with the process that sets the host back.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read as _};
use std::path::Path;

use wayhop_control::paths;
use wayhop_linux::Error;
use wayhop_linux::syscalls::network_namespace;

use crate::undo::carry_out::carry_out;
use crate::undo::claim::{Claim, Key, Refusal, open_own};
use crate::undo::list::{Change, MAX_LIST, UndoList};

/// The network namespace of this process.
pub(crate) fn namespace() -> Result<u64, Error> {
    network_namespace().map_err(Error::system("ask which network namespace this is"))
}

/// The kernel's number of this boot.
pub(crate) fn boot() -> Result<String, Error> {
    let path = "/proc/sys/kernel/random/boot_id";
    fs::read_to_string(path).map(|s| s.trim().to_owned()).map_err(Error::system(format!("read {path}")))
}

/// Opens a list, if there is one.
pub(crate) fn open(path: &Path) -> Result<Option<File>, Error> {
    match open_own(OpenOptions::new().read(true), path) {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        opened => opened.map(Some).map_err(Error::system(format!("read {}", path.display()))),
    }
}

/// Reads an open list. None if nothing was changed.
pub(crate) fn read(path: &Path, file: File) -> Result<Option<UndoList>, Error> {
    let mut octets = Vec::new();
    let failed = Error::system(format!("read {}", path.display()));
    file.take(MAX_LIST + 1).read_to_end(&mut octets).map_err(failed)?;
    UndoList::parse(&octets).map_err(|e| {
        Error::System(format!(
            "{}: {e}: it is to say what a killed node changed at its interface. See what is left there (ip address, ip route show \
             proto 119, sysctl net.ipv4.conf), set it back, and remove the file",
            path.display()
        ))
    })
}

/// Sets back what a killed node left at this interface. Returns whether there was anything.
pub(crate) fn set_back(claim: &mut Claim) -> Result<bool, Error> {
    let path = claim.list().to_owned();
    let Some(file) = open(&path)? else { return Ok(false) };
    let list = read(&path, file)?.filter(|list| boot().is_ok_and(|b| b == list.boot));
    let was_set_back = claim.was_set_back();
    if let Some(mut list) = list.clone() {
        if was_set_back {
            list.changes.retain(|c| matches!(c, Change::Socket(_)));
        }
        let failures = carry_out(&list);
        if !failures.is_empty() {
            return Err(Error::System(format!(
                "what a killed node changed cannot be set back ({}): {}",
                path.display(),
                failures.join("; ")
            )));
        }
    }
    let remove = |e| Error::system(format!("remove {}", path.display()))(e);
    fs::remove_file(&path).map_err(remove)?;
    claim.note_set_back(false).map_err(Error::system("write into a lock"))?;
    Ok(list.is_some_and(|l| !l.changes.is_empty()) && !was_set_back)
}

/// Sets back what killed nodes left in this network namespace: at these interfaces or, without any, at all. Returns at which there
/// was something.
///
/// # Errors
/// If something cannot be set back; if a node runs on one of the interfaces named.
pub fn restore(interfaces: &[String]) -> Result<Vec<String>, Error> {
    let folder = paths::folder();
    let mut done = Vec::new();
    for key in keys(&folder)? {
        if !(interfaces.is_empty() || interfaces.contains(&key.interface)) {
            continue;
        }
        match Claim::take(&folder, &key) {
            Ok(mut claim) => {
                if set_back(&mut claim)? {
                    done.push(key.interface);
                }
            }
            Err(Refusal::Runs(_)) if interfaces.is_empty() => {}
            Err(e) => return Err(e.into()),
        }
    }
    Ok(done)
}

/// At which interfaces of this network namespace a killed node left something.
///
/// # Errors
/// If that cannot be known.
pub fn left() -> Result<Vec<String>, Error> {
    let folder = paths::folder();
    let mut found = Vec::new();
    for key in keys(&folder)? {
        let path = key.list(&folder);
        let failed = |e| Error::system(format!("look at {}", path.display()))(e);
        if !Claim::is_abandoned(&path).map_err(failed)? {
            continue;
        }
        // Whatever it is, the next node at this interface has to deal with it.
        let Some(file) = open(&path)? else { continue };
        match read(&path, file) {
            Ok(Some(list)) if list.changes.is_empty() || boot().is_ok_and(|b| b != list.boot) => {}
            Ok(None) => {}
            Ok(Some(_)) | Err(_) => found.push(key.interface),
        }
    }
    Ok(found)
}

fn keys(folder: &Path) -> Result<Vec<Key>, Error> {
    Key::all(folder, namespace()?).map_err(Error::system(format!("look into {}", folder.display())))
}
