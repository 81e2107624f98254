//! Inspecting a protocol: for people, tests, and the host's packet count.

use core::fmt::{self, Display, Formatter};

use crate::{Packet, PacketId};

/// A value of a table that is not defined for every row, such as the round-trip time of a neighbour that was never measured.
///
/// It reads [`Maybe::UNDEFINED`] where there is none; in JSON it is null.
#[derive(Copy, Clone, Debug)]
pub struct Maybe<T>(pub Option<T>);

impl Maybe<()> {
    /// What stands in place of a value.
    pub const UNDEFINED: &'static str = "-";
}

impl<T: Display> Display for Maybe<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(value) => value.fmt(f),
            None => f.write_str(Maybe::UNDEFINED),
        }
    }
}

/// Receives a protocol's tables, row by row.
pub trait Inspect {
    /// A row of a table, as (column, value) pairs.
    fn row(&mut self, table: &'static str, fields: &[(&'static str, &dyn Display)]);
    /// How many rows of a table come next; false if they shall come, as they do to all but those who have no use for their values.
    /// A protocol may ask before a long table: a simulation counts the rows of all of its nodes every few seconds.
    fn counted(&mut self, table: &'static str, rows: usize) -> bool {
        let _ = (table, rows);
        false
    }
    /// A packet that the protocol holds, and where.
    fn held(&mut self, place: &'static str, p: &Packet);
}

/// An [`Inspect`] that keeps the ids of the packets held and nothing else.
#[derive(Debug, Default)]
pub struct HeldPackets(pub Vec<(&'static str, PacketId)>);

impl Inspect for HeldPackets {
    fn row(&mut self, _: &'static str, _: &[(&'static str, &dyn Display)]) {}
    fn counted(&mut self, _: &'static str, _: usize) -> bool {
        true
    }
    fn held(&mut self, place: &'static str, p: &Packet) {
        self.0.push((place, p.meta.id));
    }
}

/// An [`Inspect`] that counts the rows of each table, and the packets held at each place.
///
/// A place whose packets are rows of a table of the same name counts once. The table `node`, a node's own state, is no list and left out.
#[derive(Debug, Default)]
pub struct Sizes(Vec<(&'static str, Size)>);

#[derive(Debug, Default)]
struct Size {
    rows: u64,
    held: u64,
}

impl Sizes {
    /// How many entries each list has that is not empty, in the order in which they were shown.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        self.0.iter().map(|(name, size)| (*name, size.rows.max(size.held))).filter(|(_, n)| *n > 0)
    }
    /// Forgets all, to count another node's.
    pub fn clear(&mut self) {
        self.0.iter_mut().for_each(|(_, size)| *size = Size::default());
    }

    fn of(&mut self, name: &'static str) -> &mut Size {
        // Rows of a table come one after the other, and there are some ten tables at most.
        let at = self.0.iter().rposition(|(n, _)| *n == name).unwrap_or_else(|| {
            self.0.push((name, Size::default()));
            self.0.len() - 1
        });
        &mut self.0[at].1
    }
}

impl Inspect for Sizes {
    fn row(&mut self, table: &'static str, _: &[(&'static str, &dyn Display)]) {
        if table != "node" {
            self.of(table).rows += 1;
        }
    }
    fn counted(&mut self, table: &'static str, rows: usize) -> bool {
        // An empty table is not one of the lists, as if it had not been asked about.
        if rows > 0 {
            self.of(table).rows += rows as u64;
        }
        true
    }
    fn held(&mut self, place: &'static str, _: &Packet) {
        self.of(place).held += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PacketMeta, Pool};

    #[test]
    fn packets_that_are_rows_too_count_once() {
        let mut pool = Pool::new();
        let packet = pool.packet(&[0; 20], PacketMeta::default());
        let mut sizes = Sizes::default();
        sizes.row("node", &[]);
        for _ in 0..2 {
            sizes.row("send_buffer", &[]);
            sizes.held("send_buffer", &packet);
            sizes.held("buffer", &packet);
        }
        assert!(sizes.counted("flows", 0) && sizes.counted("routes", 2));
        sizes.row("routes", &[]);
        assert_eq!(sizes.iter().collect::<Vec<_>>(), [("send_buffer", 2), ("buffer", 2), ("routes", 3)]);
        sizes.clear();
        assert_eq!(sizes.iter().count(), 0, "an empty list is none");
    }
}
