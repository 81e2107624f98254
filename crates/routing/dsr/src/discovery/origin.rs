//! Whose packets wait in the Send Buffer (RFC 4728 section 4.2).

/// Where a waiting packet comes from.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Origin {
    /// This node made it.
    Own,
    /// Another node did; this one looks for a way to salvage it.
    Other {
        /// How often it was salvaged.
        salvage: u8,
    },
}
