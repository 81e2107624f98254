//! What is compared.

/// What forwards.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Forwarder {
    /// The kernel, by static routes.
    Kernel,
    /// The kernel, by the routes of `wayhop node` with AODV.
    Aodv,
    /// `wayhop node` with DSR.
    Dsr,
}

impl Forwarder {
    /// All of them.
    pub(crate) const ALL: [Self; 3] = [Self::Kernel, Self::Aodv, Self::Dsr];

    /// As reports call it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Aodv => "AODV",
            Self::Dsr => "DSR",
        }
    }

    /// The protocol of its daemons.
    pub(crate) fn protocol(self) -> Option<&'static str> {
        match self {
            Self::Kernel => None,
            Self::Aodv => Some("aodv"),
            Self::Dsr => Some("dsr"),
        }
    }
}
