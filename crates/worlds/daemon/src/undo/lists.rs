//! The lists of all nodes of this host, as files.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read as _};
use std::path::Path;

use wayhop_control::paths;
use wayhop_linux::Error;
use wayhop_linux::syscalls::network_namespace;

use crate::undo::claim::{Key, open_own};
use crate::undo::list::{MAX_LIST, Setting, UndoChange, UndoList};

/// The network namespace of this process.
pub(crate) fn namespace() -> Result<u64, Error> {
    network_namespace().map_err(Error::system("identify the network namespace"))
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
            "{}: {e}. This file should list what a killed node changed; check its interface (ip address, \
             ip route show proto 119, sysctl net.ipv4.conf), undo what is left, and remove the file",
            path.display()
        ))
    })
}

/// The lists in this network namespace.
pub(crate) fn keys(folder: &Path) -> Result<Vec<Key>, Error> {
    Key::all(folder, namespace()?).map_err(Error::system(format!("read {}", folder.display())))
}

/// What another node's list on this host says of a setting of all interfaces: the last of them to
/// end restores it.
pub(crate) fn of_others(name: &str, own: &UndoList) -> Option<Setting> {
    let folder = paths::folder();
    let list = |key: &Key| {
        let path = key.list(&folder);
        read(&path, open(&path).ok()??).ok()?.filter(|list| list.boot == own.boot)
    };
    let others = keys(&folder).ok()?.into_iter().filter(|key| key.index != own.index);
    others.filter_map(|key| list(&key)).flat_map(|list| list.changes).find_map(|change| match change {
        UndoChange::Setting(setting) if setting.of_all && setting.name == name => Some(setting),
        _ => None,
    })
}
