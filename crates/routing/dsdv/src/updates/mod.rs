//! Route advertisements: updates are made, and heard.

mod advertise;
mod receive;
