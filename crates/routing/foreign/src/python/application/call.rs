//! The calls of handlers, as an interpreter reads them.

use core::net::{IpAddr, SocketAddr};

use serde_json::{Map, Value};
use wayhop_core::{Addr, Fix, StreamEnd, StreamId, StreamInput};

use crate::python::call::write_fix;

/// A kind of call.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Start,
    Datagram,
    Timer,
    Stream,
    Position,
    Neighbours,
    Command,
    Resume,
    Restart,
    End,
    Figures,
    /// The object is not needed any more.
    Gone,
}

impl Kind {
    /// The method that is called, for users.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Start => "on_start",
            Self::Datagram => "on_datagram",
            Self::Timer => "on_timer",
            Self::Stream => "on_stream",
            Self::Position => "on_position",
            Self::Neighbours => "on_neighbours",
            Self::Command => "on_command",
            Self::Resume => "on_resume",
            Self::Restart => "on_restart",
            Self::End => "on_end",
            Self::Figures => "figures",
            Self::Gone => "gone",
        }
    }

    /// Its bit in a set of kinds.
    pub(super) const fn bit(self) -> u16 {
        1 << self as u16
    }
}

/// The calls that a class may leave out.
pub(super) const OPTIONAL: [Kind; 9] = [
    Kind::Datagram,
    Kind::Timer,
    Kind::Stream,
    Kind::Position,
    Kind::Neighbours,
    Kind::Command,
    Kind::Resume,
    Kind::End,
    Kind::Figures,
];

/// What a handler receives.
pub(super) enum Input<'a> {
    /// The node's address, and its number in the scenario or `u32::MAX`.
    Start(IpAddr, u32, &'a Map<String, Value>),
    Datagram(u16, SocketAddr, &'a [u8]),
    Timer(u64),
    Stream(&'a StreamInput<'a>),
    Position(&'a Fix),
    Neighbours(&'a [IpAddr]),
    Command(u64, &'a Map<String, Value>, &'a [u8]),
    End {
        in_order: bool,
    },
    Nothing,
}

impl Input<'_> {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Start(addr, node, values) => {
                write_addr(*addr, out);
                out.extend_from_slice(&node.to_le_bytes());
                out.extend(Value::Object((*values).clone()).to_string().bytes());
            }
            Self::Datagram(port, from, data) => {
                out.extend_from_slice(&port.to_le_bytes());
                write_endpoint(*from, out);
                out.extend_from_slice(data);
            }
            Self::Timer(key) => out.extend_from_slice(&key.to_le_bytes()),
            Self::Stream(input) => write_stream(input, out),
            Self::Position(fix) => write_fix(fix, out),
            Self::Neighbours(all) => all.iter().for_each(|addr| write_addr(*addr, out)),
            Self::Command(program, head, data) => {
                let head = Value::Object((*head).clone()).to_string();
                out.extend_from_slice(&program.to_le_bytes());
                out.extend_from_slice(&(head.len() as u32).to_le_bytes());
                out.extend_from_slice(head.as_bytes());
                out.extend_from_slice(data);
            }
            Self::End { in_order } => out.push(u8::from(*in_order)),
            Self::Nothing => {}
        }
    }
}

/// IPv4 addresses are IPv4-mapped.
fn write_addr(addr: IpAddr, out: &mut Vec<u8>) {
    out.extend_from_slice(&Addr::from(addr).to_bits().to_be_bytes());
}

fn write_endpoint(at: SocketAddr, out: &mut Vec<u8>) {
    write_addr(at.ip(), out);
    out.extend_from_slice(&at.port().to_le_bytes());
}

/// The kind, the stream, why it is gone, the local port, the other end, how many bytes, and the bytes.
fn write_stream(input: &StreamInput<'_>, out: &mut Vec<u8>) {
    let nowhere = SocketAddr::new(Addr::UNSPECIFIED.ip(), 0);
    let none: &[u8] = &[];
    let (kind, stream, cause, port, peer, bytes, data) = match input {
        StreamInput::Accepted { stream, port, from } => (0, *stream, 0, *port, *from, 0, none),
        StreamInput::Connected { stream, to } => (1, *stream, 0, 0, *to, 0, none),
        StreamInput::Data { stream, data } => (2, *stream, 0, 0, nowhere, data.len() as u64, &**data),
        StreamInput::Pattern { stream, bytes } => (3, *stream, 0, 0, nowhere, *bytes, none),
        StreamInput::Room { stream, bytes } => (4, *stream, 0, 0, nowhere, *bytes as u64, none),
        StreamInput::Closed { stream, cause } => {
            let cause = match cause {
                StreamEnd::Finished => 0,
                StreamEnd::Unreachable => 1,
                StreamEnd::Broken => 2,
            };
            (5, *stream, cause, 0, nowhere, 0, none)
        }
    };
    let (is_accepted, number) = match stream {
        StreamId::Opened(number) => (0, number),
        StreamId::Accepted(number) => (1, number),
    };
    out.extend_from_slice(&[kind, is_accepted]);
    out.extend_from_slice(&number.to_le_bytes());
    out.push(cause);
    out.extend_from_slice(&port.to_le_bytes());
    write_endpoint(peer, out);
    out.extend_from_slice(&bytes.to_le_bytes());
    out.extend_from_slice(data);
}
