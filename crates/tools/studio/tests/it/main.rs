//! The server as a browser, a stranger and a broken run meet it.

mod asking;
mod broken;
mod charts;
mod counts;
mod crowd;
mod editor;
mod home;
#[cfg(feature = "live")]
mod live;
mod page;
mod recorded;
mod replay;
mod reports;
mod story;
mod tables;
mod who;
