//! Why a node cannot run.

/// A failure: what could not be done, why, and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What the user gave cannot be used.
    #[error("{0}")]
    Config(String),
    /// The system refuses something.
    #[error("{0}")]
    System(String),
}

impl Error {
    /// `what` failed with an error of the system's.
    pub fn system(what: impl std::fmt::Display) -> impl FnOnce(std::io::Error) -> Self {
        move |e| {
            let remedy = match e.kind() {
                std::io::ErrorKind::PermissionDenied => {
                    "; run wayhop as root, or with CAP_NET_ADMIN and CAP_NET_RAW"
                }
                _ => "",
            };
            Self::System(format!("cannot {what}: {e}{remedy}"))
        }
    }
}
