//! Sockets: how a protocol receives its own packets.

use serde::{Deserialize, Serialize};

use crate::{Addr, IfaceId};

/// What a protocol listens to. It opens its sockets when it starts ([`crate::Cx::open`]); the node gives it what arrives
/// for them by [`crate::Input::Frame`], and passes none of it on to applications.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Socket {
    /// Datagrams to this UDP port: for this node's address, for all nodes, or in a link broadcast.
    Udp(u16),
    /// Packets of this IP protocol number, in the same way.
    Ip(u8),
    /// Whatever is sent to this multicast group, together with the other sockets of the protocol.
    Group(Addr),
}

/// An open socket.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opened {
    /// What it listens to.
    pub socket: Socket,
    /// On which interface; [`IfaceId::ANY`] for all.
    pub iface: IfaceId,
}
