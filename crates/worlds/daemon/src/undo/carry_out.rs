//! Carrying a list out, the last change first. Doing it twice does no harm.

use std::fs;
use std::io;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use nix::net::if_::{if_indextoname, if_nametoindex};
use socket2::{Domain, SockAddr, Socket, Type};
use wayhop_linux::netlink::Netlink;
use wayhop_linux::{interface, nftables};

use crate::undo::list::{Family, Setting, UndoChange, UndoList};
use crate::undo::lists::of_others;

/// Undoes what a list says. Returns what could not be undone.
pub(crate) fn carry_out(list: &UndoList) -> Vec<String> {
    let at = InterfacePlace::of(list);
    let failed = |c: &UndoChange| {
        let outcome = match c {
            UndoChange::Routes => at.with_index(|n, index| n.remove_all(index).map(drop)),
            UndoChange::Rules => free(&list.interface, &at),
            UndoChange::OwnOutside(tun) => Netlink::open().and_then(|mut n| n.forget_own_outside(*tun)),
            UndoChange::Address(addr) => at.with_index(|n, index| n.forget_address(*addr, index)),
            UndoChange::Source(addr) => Netlink::open().and_then(|mut n| n.forget_source(*addr)),
            UndoChange::Setting(s) if s.of_all && of_others(&s.name, list).is_some() => Ok(()),
            UndoChange::Setting(setting) => {
                at.path_of(setting).map_or(Ok(()), |path| set_back(&path, setting))
            }
            UndoChange::Elsewhere(interface, setting) => {
                set_back(&interface::ipv4_setting(interface, &setting.name), setting)
            }
            UndoChange::Table(name) => nftables::remove(name),
            UndoChange::Socket(path) => {
                remove_dead(Path::new(path)).and_then(|()| remove_unplaced(Path::new(path)))
            }
        };
        outcome.err().map(|e| format!("{}: {c}: {e}", list.interface))
    };
    list.changes.iter().rev().filter_map(failed).collect()
}

/// Where an interface is now: it may have another name, or another one has taken its place under its name.
struct InterfacePlace(Option<(String, u32)>);

impl InterfacePlace {
    fn of(list: &UndoList) -> Self {
        // For the number of no interface, nix gives an empty name instead of an error.
        let same = if_indextoname(list.index).ok().and_then(|name| name.into_string().ok());
        let same = same.filter(|name| !name.is_empty());
        let at = same.map(|name| (name, list.index));
        Self(at.or_else(|| Some((list.interface.clone(), if_nametoindex(list.interface.as_str()).ok()?))))
    }

    /// An interface that is gone has taken its routes and addresses with it.
    fn with_index(&self, f: impl FnOnce(&mut Netlink, u32) -> io::Result<()>) -> io::Result<()> {
        match &self.0 {
            Some((_, index)) => f(&mut Netlink::open()?, *index),
            None => Ok(()),
        }
    }

    /// The same holds for its settings.
    fn path_of(&self, setting: &Setting) -> Option<PathBuf> {
        let own = self.0.as_ref().map(|(name, _)| name.as_str());
        let of = if setting.of_all { Some("all") } else { own }?;
        Some(match setting.family {
            Family::V4 => interface::ipv4_setting(of, &setting.name),
            Family::V6 => interface::ipv6_setting(of, &setting.name),
        })
    }
}

/// Rules name their interface: an earlier name stays in them when it gets another.
fn free(name: &str, at: &InterfacePlace) -> io::Result<()> {
    let mut netlink = Netlink::open()?;
    let now = at.0.as_ref().map(|(now, _)| now.as_str()).filter(|now| *now != name);
    [name].into_iter().chain(now).try_for_each(|name| netlink.free(name))
}

/// A setting that has neither value was given it by somebody else, and keeps it.
fn set_back(path: &Path, Setting { old, new, .. }: &Setting) -> io::Result<()> {
    match interface::read(path) {
        Ok(now) if now == *new => match fs::write(path, old) {
            Err(e) if path.exists() => Err(e),
            _ => Ok(()),
        },
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

/// Removes what became of a socket whose node was killed before it had its name: until then it is `.NAME.PROCESS`.
fn remove_unplaced(path: &Path) -> io::Result<()> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|n| n.to_str())) else {
        return Ok(());
    };
    let prefix = format!(".{name}.");
    let is_one = |file: &fs::DirEntry| {
        let number = file.file_name().to_str().and_then(|n| n.strip_prefix(&prefix)?.parse::<u32>().ok());
        number.is_some()
    };
    // A folder that is gone has taken it along.
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter(is_one).try_for_each(|file| remove_dead(&file.path()))
}

/// Removes a socket that nobody answers at: another node may have taken its place.
fn remove_dead(path: &Path) -> io::Result<()> {
    if !fs::symlink_metadata(path).is_ok_and(|m| m.file_type().is_socket()) {
        return Ok(());
    }
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    // One that has no time to answer is there.
    socket.set_nonblocking(true)?;
    match socket.connect(&SockAddr::unix(path)?) {
        Err(e) if e.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path),
        _ => Ok(()),
    }
}
