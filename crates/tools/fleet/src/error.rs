//! Errors of the fleet as a whole, and problems of single hosts.

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The fleet file, or a file that it refers to, is invalid.
    #[error(transparent)]
    Config(#[from] wayhop_document::Error),
    /// Invalid arguments.
    #[error("{0}")]
    Usage(String),
    /// An error of the system.
    #[error("{0}")]
    System(String),
}

/// A problem of one host, with its remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// The kind of problem.
    pub kind: TroubleKind,
    /// What is wrong.
    pub what: String,
    /// What to do about it.
    pub remedy: String,
}

/// Kinds of problems.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum TroubleKind {
    /// No answer; the host may come back.
    Lost,
    /// Its host key or the login was rejected.
    Refused,
    /// It answers, but something there is wrong.
    Wrong,
    /// Interrupted by the user.
    Stopped,
}

impl Trouble {
    pub(crate) fn new(kind: TroubleKind, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { kind, what: harmless(&what.into()), remedy: remedy.into() }
    }
    pub(crate) fn wrong(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new(TroubleKind::Wrong, what, remedy)
    }
    pub(crate) fn stopped() -> Self {
        Self::new(TroubleKind::Stopped, "interrupted", "run the command again")
    }
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}; {}", self.what, self.remedy)
    }
}

/// The longest quoted text of a host.
const LONGEST: usize = 300;

/// A text from a host, for a message: on one line, without control characters, and short.
pub(crate) fn harmless(text: &str) -> String {
    let one_line = text.trim().chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut out: String = one_line.clone().take(LONGEST).collect();
    if one_line.count() > LONGEST {
        out.push_str("...");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_host_says_is_short_and_harmless() {
        let trouble = Trouble::wrong(format!("\u{1b}[2J{}\n", "x".repeat(10_000)), "do");
        assert!(!trouble.to_string().contains(char::is_control));
        assert!(trouble.to_string().len() < 400);
    }
}
