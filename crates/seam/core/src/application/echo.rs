//! ICMP echo requests of an application and the replies to them, as Linux's ICMP datagram sockets have them.

use core::net::IpAddr;
use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::bytes;

/// An echo request that an application sends. The host writes the headers and the checksum, and answers the requests of others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EchoRequest {
    /// To this address.
    pub to: IpAddr,
    /// Tells the application's requests from those of others (RFC 792, RFC 4443 section 4.1).
    pub identifier: u16,
    /// The request's number.
    pub number: u16,
    /// Time to live, hops.
    pub ttl: u8,
    /// Type of Service, or traffic class.
    #[serde(skip_serializing_if = "bytes::is_zero")]
    pub tos: u8,
    /// Comes back with the reply.
    #[serde(serialize_with = "bytes::hexadecimal")]
    pub data: Vec<u8>,
}

/// The reply to an [`EchoRequest`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EchoReply<'a> {
    /// Who answers.
    pub from: IpAddr,
    /// The request's identifier.
    pub identifier: u16,
    /// The request's number.
    pub number: u16,
    /// The request's data.
    #[serde(with = "bytes::cow")]
    pub data: Cow<'a, [u8]>,
}
