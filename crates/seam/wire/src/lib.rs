//! Checked views and representations of every header that Wayhop reads or writes.
//!
//! Each module has one or both of
//! * a *view* over borrowed bytes: its constructor checks every length once, and no accessor panics afterwards;
//! * a *Repr*: the header's meaning as plain fields, with `parse`, `buffer_len` and `emit`.
//!
//! Bytes may come from anyone: **no `parse`, no view constructor, no accessor and no iterator of this crate panics on any
//! input**, none allocates, and none reads or loops beyond the slice it was given. What can panic is `emit`, and only when
//! the caller's buffer is shorter than its documentation says.
//!
//! Field values that do not fit their bits (a salvage count of 16) are refused with [`Error::Value`] where `emit` returns a
//! result. Reserved bits are ignored on reception and zero in transmission, as the RFCs ask.

mod bytes;
mod datagram;
mod error;
mod list;

pub mod aodv;
pub mod arp;
pub mod auth;
pub mod babel;
pub mod checksum;
pub mod dot11;
pub mod dsdv;
pub mod dsr;
pub mod icmp;
mod icmp_error;
pub mod icmpv6;
pub mod ip;
pub mod ip_in_ip;
pub mod ipv4;
pub mod ipv6;
pub mod llc;
pub mod mobile_ip;
pub mod olsr;
pub mod radiotap;
pub mod rtcm3;
pub mod tcp;
pub mod udp;

pub use datagram::{Datagram, check_sums, datagram};
pub use error::Error;
pub(crate) use error::refuse_if;
pub use icmp_error::{
    QUOTED6, had_no_route, host_unreachable, may_answer6, unreachable_for, unreachable6_for,
};
pub use list::{List, ListItem, ListIter};
