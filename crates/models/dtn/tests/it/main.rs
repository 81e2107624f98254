//! Delay-tolerant networking at work: one behaviour a test, over scripted contacts.

mod common;
#[path = "../exercise/mod.rs"]
mod exercise;

mod basics;
mod custody;
mod fragments;
mod hostile;
mod ltp;
mod node;
mod routing;
