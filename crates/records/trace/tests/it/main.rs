//! What a run leaves behind, read back.

mod captures;
mod common;
mod diff;
mod killed;
mod link_types;
mod real_time;
mod run_directory;
mod stream;
