//! What goes wrong: with the fleet as a whole, and with one of its hosts.

/// Why nothing could be done.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The fleet's file, or what it names, cannot be used.
    #[error(transparent)]
    Config(#[from] wayhop_document::Error),
    /// What was asked for does not fit what there is.
    #[error("{0}")]
    Usage(String),
    /// The system refused something.
    #[error("{0}")]
    System(String),
}

/// What is wrong with one host, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// In which of the ways that matter to others.
    pub kind: Kind,
    /// What is wrong.
    pub what: String,
    /// What to do about it.
    pub remedy: String,
}

/// Whether a host can be asked again.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It does not answer: it may come back.
    Lost,
    /// It answers, but is not who it should be, or lets nobody in.
    Refused,
    /// It answers, and something there is wrong.
    Wrong,
    /// The user broke it off.
    Stopped,
}

impl Trouble {
    pub(crate) fn new(kind: Kind, what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { kind, what: harmless(&what.into()), remedy: remedy.into() }
    }
    pub(crate) fn wrong(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new(Kind::Wrong, what, remedy)
    }
    pub(crate) fn stopped() -> Self {
        Self::new(Kind::Stopped, "broken off", "run the command again")
    }
    /// Nobody waits for it any more, and nothing has ended it.
    pub(crate) fn started_all_the_same() -> Self {
        Self::new(
            Kind::Stopped,
            "broken off; its node starts, or runs, all the same",
            "wayhop fleet stop ends it",
        )
    }
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}; {}", self.what, self.remedy)
    }
}

/// The longest text of a host that is quoted.
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
