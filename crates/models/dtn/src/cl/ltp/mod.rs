//! LTP (RFC 5326) over UDP, client service 1 (Bundle Protocol): blocks of one bundle go, blocks of one or more come.
//!
//! * `segment`: the segments. `export`, `import`: outgoing and incoming blocks, `block`: the
//!   bundles in one.
//! * `numbers`: which number a session gets. `engine`: all of these, and their timers.

mod block;
mod engine;
mod export;
mod import;
mod numbers;
mod segment;

pub use engine::{Ltp, LtpConfig};
pub use numbers::SessionNumbers;
pub use segment::PORT;
