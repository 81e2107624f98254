//! Invariants for any bytes: for property tests and fuzz targets. A target includes only the files that it runs.

mod bundle;
mod datagrams;
mod ltp;
mod session;
mod tcpcl;
mod udpcl;

pub(crate) use bundle::bundle;
pub(crate) use ltp::ltp;
pub(crate) use tcpcl::tcpcl;
pub(crate) use udpcl::udpcl;
