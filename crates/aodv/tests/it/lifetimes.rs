//! lifetimes
