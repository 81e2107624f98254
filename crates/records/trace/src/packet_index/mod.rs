//! What is worth knowing of a table `packets` before it is read: the file `packets.index`.
//!
//! Where the rows of a moment are, the table's own footer says: rows are in order of time, and each row group has its first and
//! last moment. What it does not say is how many events of each kind there were when, and where the losses are: for that,
//! somebody would have to read all rows. The run counts them while it writes them.

mod counts;
mod file;
#[cfg(test)]
mod tests;

pub use counts::{CountOf, IndexedLoss, IndexedRow, PacketIndex};
pub use file::TableStamp;
pub(crate) use file::{PACKET_INDEX, write};
