//! LTP (RFC 5326) over UDP, client service 1 (Bundle Protocol): one bundle a block.
//!
//! * `segment`: what goes over the wire. `export`, `import`: blocks that go and come. `engine`: both, and their timers.

mod engine;
mod export;
mod import;
mod segment;

pub use engine::{Ltp, LtpConfig};
pub use segment::PORT;
