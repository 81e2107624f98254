//! The changes of nodes that were killed together with their undo process.

use std::fs;

use wayhop_control::paths;
use wayhop_linux::Error;

use crate::undo::carry_out::carry_out;
use crate::undo::claim::{Claim, Refusal};
use crate::undo::list::UndoChange;
use crate::undo::lists::{boot, keys, open, read};

/// Undoes a killed node's changes to this interface. Returns whether there were any.
pub(crate) fn set_back(claim: &mut Claim) -> Result<bool, Error> {
    let path = claim.list.clone();
    let Some(file) = open(&path)? else { return Ok(false) };
    let list = read(&path, file)?.filter(|list| boot().is_ok_and(|b| b == list.boot));
    let was_set_back = claim.was_set_back();
    if let Some(mut list) = list.clone() {
        if was_set_back {
            list.changes.retain(|c| matches!(c, UndoChange::Socket(_)));
        }
        let failures = carry_out(&list);
        if !failures.is_empty() {
            return Err(Error::System(format!(
                "cannot undo the changes of a killed node ({}): {}",
                path.display(),
                failures.join("; ")
            )));
        }
    }
    let remove = |e| Error::system(format!("remove {}", path.display()))(e);
    fs::remove_file(&path).map_err(remove)?;
    claim.note_set_back(false).map_err(Error::system("write a lock file"))?;
    Ok(list.is_some_and(|l| !l.changes.is_empty()) && !was_set_back)
}

/// Undoes the changes of killed nodes in this network namespace: to these interfaces or, without
/// any, to all. Returns the interfaces with changes.
///
/// # Errors
/// If something cannot be undone, or if a node runs on one of the interfaces.
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
