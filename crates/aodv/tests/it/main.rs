//! AODV on scripted links.

mod discovery;
mod errors;
mod hostile;
mod lifetimes;
mod neighbours;
mod ns2;
mod repair;
mod support;
mod wire;
