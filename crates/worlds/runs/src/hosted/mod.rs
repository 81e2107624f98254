//! Programs of Wayhop that run in an emulation's or a lab's nodes, and what they write down: bundle agents and applications.

mod agents;
mod applications;
mod records;

pub(crate) use agents::Agents;
pub(crate) use applications::Applications;
pub(crate) use records::RecordFolder;
