//! The studio: a web page that replays runs, and the server that it comes from.
//!
//! * [`serve`] is the server. It shows run directories and changes nothing.
//! * [`serve_editor`] edits a scenario besides, and runs it. [`edit_text`] is what an edit does to its text.
//! * `serve_live` follows emulations, labs and nodes while they run, and moves their nodes.
//! * [`replay`] is the page with one run in a single document, for reports.
//! * The page is in `page/`, built from `web/`. It loads a run in pieces of time, so that a run of
//!   any length opens at once.
//!
//! Run directories come from outside: a broken one is a message on the page. docs/studio.md says who may connect.

mod access;
mod connections;
mod counting;
mod drive;
mod editor;
mod embed;
mod error;
mod folders;
mod frame;
mod frames;
mod library;
#[cfg(feature = "live")]
mod live;
mod moments;
mod motion;
mod node_counts;
mod overview;
mod packets;
mod places;
mod reports;
mod routes;
mod rows;
mod run;
mod series;
mod server;
mod sightings;
mod sizes;
mod story;
mod sweeps;
mod table;
mod wall_clock;

pub use editor::{Editing, edit_text};
pub use embed::replay;
#[cfg(feature = "live")]
pub use server::serve_live;
pub use server::{serve, serve_editor, serve_pair};
