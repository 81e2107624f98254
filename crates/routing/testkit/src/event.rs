//! EventKind is to happen, in order of time.

use std::cmp::Ordering;
use std::net::Ipv4Addr;

use wayhop_core::{Addr, Packet, RxMeta, Time};
use wayhop_node::Due;

use crate::links::Link;

pub(crate) struct Event {
    pub(crate) at: Time,
    pub(crate) number: u64,
    pub(crate) what: Happening,
}

pub(crate) enum Happening {
    /// EventKind a node asked to be called for.
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

impl Ord for Event {
    fn cmp(&self, o: &Self) -> Ordering {
        (self.at, self.number).cmp(&(o.at, o.number))
    }
}
impl PartialOrd for Event {
    fn partial_cmp(&self, o: &Self) -> Option<Ordering> {
        Some(self.cmp(o))
    }
}
impl PartialEq for Event {
    fn eq(&self, o: &Self) -> bool {
        self.number == o.number
    }
}
impl Eq for Event {}
