//! Routing protocols and applications in shared libraries, behind the C interface of `include/wayhop.h`, and in Python
//! modules, behind the package of `python/wayhop`.
//!
//! [`load`] makes a [`wayhop_core::Description`] of a library: from then on its protocol has names, parameters and messages
//! as one of Wayhop's own; [`load_application`] does the same for applications. `ffi` is the part that touches C; [`Facts`] checks what a library says about itself.
//!
//! Calls stay in the process, because a message to another process and back costs two switches between processes. A crash
//! of a library ends the process, so that the command runs in a child of its own, whose parent reads in [`progress`] what
//! happened.

mod application;
mod check;
mod claims;
mod description;
mod facts;
mod fault;
mod ffi;
mod load;
mod locate;
mod names;
mod packets;
mod parameter;
pub mod progress;
#[cfg(unix)]
mod python;
mod slots;

pub use application::{ApplicationClaims, ApplicationFacts};
pub use claims::{Claims, ParameterClaim};
pub use facts::Facts;
pub use load::{Supervise, load, load_application, loaded, loaded_applications, supervise_by};
pub use locate::{is_python, locate};
pub use parameter::Parameter;
#[cfg(unix)]
pub use python::{ApplicationWish, Given, Wish, application_wishes, wishes};
