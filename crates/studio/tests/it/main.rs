//! The server as a browser, a stranger and a broken run meet it.

mod asking;
mod broken;
mod editor;
mod page;
mod recorded;
mod tables;
mod who;
