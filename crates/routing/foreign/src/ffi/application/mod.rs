//! Applications in libraries: the second half of `wayhop.h`.

mod abi;
mod call;
pub(crate) mod engine;
pub(crate) mod library;
