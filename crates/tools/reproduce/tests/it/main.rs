//! Reproductions in small.

mod cmu;
mod das;
