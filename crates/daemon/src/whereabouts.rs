//! Where the node is.

use wayhop_core::Fix;

/// Where the node is, as far as it was told.
#[derive(Clone, Debug, Default)]
pub(crate) struct Whereabouts {
    /// By the control socket: it outdoes the receiver.
    pub(crate) told: Option<Fix>,
    /// By gpsd.
    pub(crate) receiver: Option<Fix>,
    /// What the protocol knows.
    known: Option<Fix>,
}

impl Whereabouts {
    /// The place that counts.
    pub(crate) fn fix(&self) -> Option<Fix> {
        self.told.or(self.receiver)
    }

    /// It, if it is news for the protocol.
    pub(crate) fn news(&mut self) -> Option<Fix> {
        let fix = self.fix().filter(|f| self.known != Some(*f))?;
        self.known = Some(fix);
        Some(fix)
    }
}
