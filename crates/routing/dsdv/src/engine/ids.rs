//! What a status report is about.

use wayhop_core::TxId;

/// A data packet out of the buffer. (What the host forwards has none.)
pub(crate) const DATA: TxId = TxId(1);
