//! Whether neighbours are there.

mod hello;
