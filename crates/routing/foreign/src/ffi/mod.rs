//! Everything that touches C: the structures of `wayhop.h`, loading a library, calling it, and being called by it.
//!
//! What a pointer of a library points to cannot be checked: a library that hands out a wild one crashes its process, which
//! `wayhop` survives (see [`crate::progress`]). Everything else that it says is checked on the safe side.
#![allow(unsafe_code, reason = "C functions and pointers")]

pub(crate) mod abi;
pub(crate) mod application;
pub(crate) mod call;
pub(crate) mod engine;
pub(crate) mod host;
#[cfg(test)]
mod layout;
pub(crate) mod library;
pub(crate) mod page;
pub(crate) mod run;
pub(crate) mod text;
pub(crate) mod values;
