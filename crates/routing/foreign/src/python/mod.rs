//! Protocols and applications in Python: the user's module, with the package of `python/wayhop`, in an interpreter of its own for each run.
//!
//! Wayhop and the interpreter share a socket, which is the interpreter's standard input. Each message has its length in front,
//! 4 bytes; numbers are little-endian.
//!
//! First, Wayhop sends the package's sources, the module's path, and what it shall define, as JSON. The interpreter answers with the description of
//! the module's class, or with what is wrong with it.
//!
//! Then Wayhop makes calls. A call has its kind, the engine, the time, the length of the interface queue, whether the link layer
//! acknowledges, and random numbers drawn ahead from the node's stream ([`call`]); then what the handler receives. The answer
//! has its kind, how many random numbers were used, and the handler's effects ([`wishes`]). An answer of kind
//! `MORE` asks for random numbers; the call goes on when they are there.

mod application;
mod apply;
mod call;
mod cursor;
mod describe;
mod engine;
mod foreign;
mod interpreter;
mod module;
mod pipe;
mod read;
mod run;
mod session;
mod source;

pub(crate) use application::ApplicationModule;
pub use application::{ApplicationWish, application_wishes};
pub(crate) use module::Module;
pub use read::{Given, Wish, wishes};
