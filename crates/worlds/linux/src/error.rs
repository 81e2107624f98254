//! Why a node cannot run.

/// A failure: what could not be done, why, and the remedy.
#[derive(Debug)]
pub enum Error {
    /// What the user gave cannot be used.
    Config(String),
    /// The system refuses something.
    System(String),
}

impl Error {
    /// `what` failed with an error of the system's.
    pub fn system(what: impl std::fmt::Display) -> impl FnOnce(std::io::Error) -> Self {
        move |e| {
            let remedy = match e.kind() {
                std::io::ErrorKind::PermissionDenied => {
                    "; it needs CAP_NET_ADMIN and CAP_NET_RAW: run it as root, or from its systemd unit"
                }
                _ => "",
            };
            Self::System(format!("cannot {what}: {e}{remedy}"))
        }
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Config(m) | Self::System(m) => f.write_str(m),
        }
    }
}

impl std::error::Error for Error {}
