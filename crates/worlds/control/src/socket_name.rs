//! Where the socket of an application is.

use std::io;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::FileTypeExt as _;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use crate::paths;

/// The name of a socket: a path, or a name of the abstract namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SocketName {
    /// A file.
    Path(PathBuf),
    /// Written with an `@` in front.
    Abstract(String),
}

impl SocketName {
    /// What a configuration or a command line says.
    pub fn parse(text: &str) -> Self {
        match text.strip_prefix('@') {
            Some(name) => Self::Abstract(name.to_owned()),
            None => Self::Path(PathBuf::from(text)),
        }
    }

    fn address(&self) -> io::Result<SocketAddr> {
        match self {
            Self::Path(path) => SocketAddr::from_pathname(path),
            Self::Abstract(name) => SocketAddr::from_abstract_name(name),
        }
    }

    /// Listens there. A file that nobody listens at any more is replaced.
    ///
    /// # Errors
    /// If somebody listens there, or the system refuses it.
    pub fn bind(&self) -> io::Result<UnixListener> {
        if let Self::Path(path) = self {
            if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) {
                paths::prepare_folder(folder, 0o700)?;
            }
            let is_socket = path.symlink_metadata().is_ok_and(|m| m.file_type().is_socket());
            if is_socket && UnixStream::connect(path).is_err() {
                std::fs::remove_file(path)?;
            }
        }
        UnixListener::bind_addr(&self.address()?)
    }

    /// Connects to it.
    ///
    /// # Errors
    /// If nobody listens there.
    pub fn connect(&self) -> io::Result<UnixStream> {
        UnixStream::connect_addr(&self.address()?)
    }

    /// The file, to be removed at the end.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Path(path) => Some(path),
            Self::Abstract(_) => None,
        }
    }
}

/// Whether the other end is of this user or root.
pub fn is_own(stream: &UnixStream) -> bool {
    let me = rustix::process::geteuid();
    rustix::net::sockopt::socket_peercred(stream).is_ok_and(|c| c.uid == me || c.uid.is_root())
}

impl std::fmt::Display for SocketName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Path(path) => path.display().fmt(f),
            Self::Abstract(name) => write!(f, "@{name}"),
        }
    }
}
