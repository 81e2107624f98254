//! Scheduled events.

use std::net::Ipv4Addr;

use wayhop_core::{Addr, Packet, RxMeta};
use wayhop_node::Due;

use crate::links::Link;

pub(crate) enum Happening {
    /// What a node asked to be called for.
    Due {
        node: usize,
        due: Due,
    },
    /// The transmission of a node, of a life, is over.
    AirEnd {
        node: usize,
        life: u32,
    },
    Receive {
        to: usize,
        packet: Packet,
        rx: RxMeta,
    },
    Overhear {
        to: usize,
        next_hop: Addr,
        bytes: Vec<u8>,
        rx: RxMeta,
    },
    Originate {
        node: usize,
        to: Ipv4Addr,
        flow: u32,
    },
    SetLink {
        from: usize,
        to: usize,
        link: Link,
    },
}
