//! What an interface knows of one neighbour.

/// One neighbour.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Neighbour {
    /// Which second the count is of.
    pub(crate) second: u32,
    /// How many packets it sent of one class; 0 of a neighbour without a count of its own.
    pub(crate) count: u16,
    /// Which class.
    pub(crate) place: u8,
    pub(crate) link: Link,
}

/// Whether a neighbour's link address is known.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Link {
    #[default]
    Unknown,
    /// It follows from the network address, as with most neighbours.
    Derived,
    /// Another one: see `Neighbours`.
    Other,
}

impl Neighbour {
    /// Whether it has a count of its own.
    pub(crate) fn is_counted(self) -> bool {
        self.count > 0
    }
    /// Whether its link address is known.
    pub(crate) fn has_link(self) -> bool {
        self.link != Link::Unknown
    }
    /// The first packet of a second.
    pub(crate) fn begin(&mut self, second: u32, place: u8) {
        *self = Self { second, count: 1, place, ..*self };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_stays_small() {
        assert_eq!(size_of::<Neighbour>(), 8);
    }
}
