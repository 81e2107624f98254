//! What the tasks around the agent tell it.

use std::net::{IpAddr, SocketAddr};

use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;
use wayhop_bundle_node::{Connection, Layer};

use crate::frames::Frame;
use crate::waiting::{Outbox, Reservation};

/// One thing that happened.
pub(crate) enum Event {
    /// A datagram came to the port of beacons.
    Beacon(IpAddr, Vec<u8>),
    /// A datagram came to the port of a layer.
    Datagram(Layer, SocketAddr, Vec<u8>),
    /// A connection came.
    Incoming(TcpStream, SocketAddr),
    /// A connection that was asked for is there.
    Connected(Connection, TcpStream, SocketAddr),
    /// Octets came over a connection.
    Octets(Connection, Vec<u8>),
    /// So many of those that were to be written are.
    Written(Connection, usize),
    /// A connection is gone, or did not come about.
    Closed(Connection),
    /// The mesh has these neighbours now.
    Links(Vec<IpAddr>),
    /// A program is there.
    Program(u64, Outbox),
    /// It asks for something; the permit is for its answer.
    Asked(u64, Frame, OwnedSemaphorePermit, Reservation),
    /// What it says cannot be read: this is why, and it is gone with it.
    Unreadable(u64, String),
    /// It is gone.
    Gone(u64),
}
