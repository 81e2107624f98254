//! An application's effects, for its host.

use core::net::SocketAddr;

use serde::Serialize;

use super::echo::EchoRequest;
use super::network::NetworkEffect;
use super::program::ProgramEffect;
use super::row::ApplicationRow;
use super::stream::StreamEffect;
use crate::{Time, TimerKey, TraceNote, bytes};

/// A datagram that an application sends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ApplicationDatagram {
    /// From this UDP port, at which the application listens.
    pub port: u16,
    /// To there. The broadcast address reaches the neighbours, by every interface of the node; a multicast address its group.
    pub to: SocketAddr,
    /// Time to live, hops.
    pub ttl: u8,
    /// Type of Service, or traffic class.
    #[serde(skip_serializing_if = "bytes::is_zero")]
    pub tos: u8,
    /// Its data.
    #[serde(serialize_with = "bytes::hexadecimal")]
    pub data: Vec<u8>,
}

/// One thing that an application asks for, in order.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ApplicationEffect {
    /// Datagrams to this UDP port are for it, from now on.
    Listen(u16),
    /// Send this.
    Send(ApplicationDatagram),
    /// Send an ICMP echo request.
    EchoRequest(EchoRequest),
    /// Set or move a timer. A time in the past means now.
    SetTimer(TimerKey, Time),
    /// Forget a timer.
    ClearTimer(TimerKey),
    /// Write a remark into the run's table `events`.
    Note(TraceNote),
    /// Have the host's network layer do this.
    Network(NetworkEffect),
    /// Something about streams.
    Stream(StreamEffect),
    /// Something for a program.
    Program(ProgramEffect),
    /// Write a row into a table of the run.
    Row(ApplicationRow),
    /// Tell people who watch this application.
    Remark(String),
    /// It cannot go on, for this reason: the host ends it.
    Fail(String),
}
