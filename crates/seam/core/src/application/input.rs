//! An application's inputs.

use core::net::{IpAddr, SocketAddr};
use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::echo::EchoReply;
use super::network::NetworkInput;
use super::program::ProgramInput;
use super::stream::StreamInput;
use crate::{Fix, TimerKey, bytes};

/// One call of an application.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApplicationInput<'a> {
    /// The node is up.
    Start,
    /// A datagram came.
    Datagram {
        /// To this port.
        port: u16,
        /// From there.
        from: SocketAddr,
        /// Its data.
        #[serde(with = "bytes::cow")]
        data: Cow<'a, [u8]>,
    },
    /// An ICMP echo request of the application was answered.
    EchoReply(EchoReply<'a>),
    /// A timer fires.
    Timer(TimerKey),
    /// Where the node is.
    Position(Fix),
    /// The node lost its memory.
    Restart,
    /// The host's network layer tells something.
    Network(NetworkInput<'a>),
    /// Something about streams.
    Stream(StreamInput<'a>),
    /// Something at the socket for programs.
    Program(ProgramInput),
    /// The routing protocol has these neighbours now.
    Neighbours(Vec<IpAddr>),
    /// The node was down and is back, with its memory.
    Resume,
    /// The application ends.
    End(Ending),
}

/// How an application ends.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// It is asked to: it can still send.
    InOrder,
    /// The run is over, or the power fails: it can only write down what it has not yet.
    AtOnce,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ProgramMessage, StreamEnd, StreamId};

    #[test]
    fn inputs_come_back_from_a_log_as_they_were() {
        let stream = StreamId::Accepted(7);
        let head = [("do".to_owned(), "list".into())].into_iter().collect();
        let message = ProgramMessage { head, data: vec![0, 255] };
        for input in [
            ApplicationInput::Stream(StreamInput::Accepted {
                stream,
                port: 4_556,
                from: "[::1]:9".parse().expect("an address"),
            }),
            ApplicationInput::Stream(StreamInput::Data { stream, data: Cow::Borrowed(&[1, 2]) }),
            ApplicationInput::Stream(StreamInput::Pattern { stream, bytes: 1_460 }),
            ApplicationInput::Stream(StreamInput::Room { stream: StreamId::Opened(1), bytes: 5 }),
            ApplicationInput::Stream(StreamInput::Closed { stream, cause: StreamEnd::Broken }),
            ApplicationInput::Program(ProgramInput::Command { program: 3, message }),
            ApplicationInput::Program(ProgramInput::Gone(3)),
            ApplicationInput::EchoReply(EchoReply {
                from: "10.0.0.2".parse().expect("an address"),
                identifier: 49_152,
                number: 7,
                data: Cow::Borrowed(&[87, 72]),
            }),
            ApplicationInput::Neighbours(vec!["10.0.0.2".parse().expect("an address")]),
            ApplicationInput::Resume,
            ApplicationInput::End(Ending::AtOnce),
        ] {
            let text = serde_json::to_string(&input).expect("it serialises");
            assert_eq!(
                serde_json::from_str::<ApplicationInput<'_>>(&text).expect("an input"),
                input,
                "{text}"
            );
        }
    }
}
