//! Route advertisements: sending and receiving updates.

mod advertise;
mod receive;
