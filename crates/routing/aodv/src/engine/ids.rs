//! What a status report is about.

use wayhop_core::TxId;

/// A data packet out of the buffer.
pub(crate) const DATA: TxId = TxId(1);
/// A Route Reply.
pub(crate) const RREP: TxId = TxId(2);
/// Another message to one neighbour.
pub(crate) const CONTROL: TxId = TxId(3);
