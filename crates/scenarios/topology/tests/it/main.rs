//! The geometry against patterns and chains.

mod chains;
mod own_patterns;
mod pathless;
mod patterns;
