//! The bundle protocol agent of one node (RFC 9171, section 5).
//!
//! * `state`: its state; `item`: that of one bundle; `open`: reading it from the store after a
//!   restart.
//! * `handle`: inputs and outputs; `timers`: expiries.
//! * `receive`: a bundle or its first octets came. `request`: an application sends.
//! * `hold`: bundles enter and leave the store. `deliver`: they reach applications.
//! * `offer`: which neighbour gets which. `outcome`: how a transfer ended.
//! * `custody`: signals. `exchange`: messages of routing. `report`: status reports.

mod config;
mod contact;
mod custody;
mod deliver;
mod exchange;
mod handle;
mod hold;
mod input;
mod item;
mod offer;
mod open;
mod outcome;
mod output;
mod receive;
mod report;
mod request;
mod state;
mod timers;

pub use config::{Config, Limits};
pub use handle::{Held, Statistics};
pub use input::{Contact, ContactId, Input, Refusal, Request, TransferEvent, TransferId};
pub use open::OpenError;
pub use output::{BundleRecord, DropCause, Output, RequestError};
pub use state::Agent;
