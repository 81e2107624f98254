//! What nodes left that were killed together with the process that sets the host back.

use std::fs;

use wayhop_control::paths;
use wayhop_linux::Error;

use crate::undo::carry_out::carry_out;
use crate::undo::claim::{Claim, Refusal};
use crate::undo::list::UndoChange;
use crate::undo::lists::{boot, keys, open, read};

/// Sets back what a killed node left at this interface. Returns whether there was anything.
pub(crate) fn set_back(claim: &mut Claim) -> Result<bool, Error> {
    let path = claim.list().to_owned();
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
