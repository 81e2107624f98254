//! Boxes of attenuators, and how to speak to them.
//!
//! * [`Rcdat`]: the words of Mini-Circuits' RCDAT family, which telnet and HTTP carry.
//! * [`Rack`]: several boxes as one.
//! * [`Fake`]: a simulated box, with the same commands.

mod connect;
mod driver;
mod error;
mod fake;
mod http;
mod line;
mod rack;
mod rcdat;
mod telnet;

pub use connect::connect;
pub use driver::Device;
pub use error::{DeviceError, PATIENCE};
pub use fake::{Fake, Faults};
pub use rack::{Rack, RackUpdate};
pub use rcdat::{BoxAnswer, BoxCommand, Rcdat};
