//! Talking to nl80211 by generic netlink.

use std::io;

use netlink_packet_core::{
    DecodeError, NLM_F_ACK, NLM_F_DUMP, NetlinkDeserializable, NetlinkHeader, NetlinkSerializable,
};
use netlink_sys::protocols::NETLINK_GENERIC;

use crate::exchange::Exchange;

use super::nl80211::{attribute, find};

// The controller of generic netlink (linux/genetlink.h).
const CONTROLLER: u16 = 16;
const GET_FAMILY: u8 = 3;
const FAMILY_ID: u16 = 1;
const FAMILY_NAME: u16 = 2;

/// Octets of the generic header: command, version, two that are kept free.
const HEADER: usize = 4;

/// A generic netlink message.
#[derive(Clone, Debug)]
struct Generic {
    family: u16,
    command: u8,
    attributes: Vec<u8>,
}

impl NetlinkSerializable for Generic {
    fn message_type(&self) -> u16 {
        self.family
    }
    fn buffer_len(&self) -> usize {
        HEADER + self.attributes.len()
    }
    fn serialize(&self, buffer: &mut [u8]) {
        buffer[..HEADER].copy_from_slice(&[self.command, 1, 0, 0]);
        buffer[HEADER..].copy_from_slice(&self.attributes);
    }
}

impl NetlinkDeserializable for Generic {
    type Error = DecodeError;
    fn deserialize(header: &NetlinkHeader, payload: &[u8]) -> Result<Self, DecodeError> {
        let (head, attributes) = payload
            .split_first_chunk::<HEADER>()
            .ok_or_else(|| DecodeError::from("generic netlink without its header"))?;
        Ok(Self { family: header.message_type, command: head[0], attributes: attributes.to_vec() })
    }
}

/// A socket to nl80211.
pub(super) struct Nl80211 {
    exchange: Exchange,
    family: u16,
}

impl Nl80211 {
    /// Opens it; `None` if this kernel has no wireless hardware.
    pub(super) fn open() -> io::Result<Option<Self>> {
        let mut this = Self { exchange: Exchange::open(NETLINK_GENERIC)?, family: CONTROLLER };
        let mut id = None;
        let asked = this.ask(GET_FAMILY, &attribute(FAMILY_NAME, b"nl80211\0"), false, |_, attributes| {
            id = find(attributes, FAMILY_ID).and_then(|v| Some(u16::from_ne_bytes(v.try_into().ok()?)));
        });
        match (asked, id) {
            (Err(e), _) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            (Err(e), _) => Err(e),
            (Ok(()), None) => Ok(None),
            (Ok(()), Some(family)) => Ok(Some(Self { family, ..this })),
        }
    }

    /// Sends a command, and hands on command and attributes of each answer.
    pub(super) fn ask(
        &mut self,
        command: u8,
        attributes: &[u8],
        all: bool,
        mut answer: impl FnMut(u8, &[u8]),
    ) -> io::Result<()> {
        let message = Generic { family: self.family, command, attributes: attributes.to_vec() };
        let flags = if all { NLM_F_DUMP } else { NLM_F_ACK };
        self.exchange.ask(message, flags, |m: Generic| answer(m.command, &m.attributes))
    }
}
