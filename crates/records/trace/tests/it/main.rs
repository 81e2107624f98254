//! The results of a run, read back.

mod captures;
mod common;
mod diff;
mod foreign_captures;
mod killed;
mod link_types;
mod packet_index;
mod partial;
mod readers;
mod real_time;
mod run_directory;
mod stream;
