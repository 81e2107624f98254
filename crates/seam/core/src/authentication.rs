//! Where a protocol's packets carry their authentication (docs/concepts/authentication.md).

use core::ops::Range;

/// The place of the block in a protocol's packets. A payload is what follows the IP header or, with
/// [`Carrier::UdpPort`](crate::Carrier::UdpPort), the UDP header.
///
/// The functions run on octets from strangers. They must not panic.
#[derive(Debug)]
pub struct Authentication {
    /// The protocol's number in what a tag covers. No two protocols have the same.
    pub number: u8,
    /// The first octet of the block: the type of an extension or an option.
    pub block_type: u8,
    /// What is in front of the block: at most [`Authentication::LONGEST_MARK`] octets.
    pub mark: &'static [u8],
    /// The part of a payload at the end of which the block is, or would be; `None` if it is no payload of this protocol.
    pub room: fn(&[u8]) -> Option<Range<usize>>,
    /// Corrects lengths in the protocol's own header after a payload's room grew by this many
    /// bytes. False if they do not fit.
    pub resized: fn(&mut [u8], isize) -> bool,
    /// The payload of a packet without messages, which an exchange of challenges and answers is before it gets its block.
    pub empty: &'static [u8],
    /// Whether `security.data = false` leaves a payload without a block: it carries data of applications, and nothing that a node
    /// would learn from.
    pub is_data: fn(&[u8]) -> bool,
}

impl Authentication {
    /// The most octets that a mark has.
    pub const LONGEST_MARK: usize = 2;

    /// Behind a message that fills a datagram and is covered completely.
    pub const fn behind_message(number: u8, block_type: u8, mark: &'static [u8]) -> Self {
        Self {
            number,
            block_type,
            mark,
            room: |payload| Some(0..payload.len()),
            resized: |_, _| true,
            empty: &[],
            is_data: |_| false,
        }
    }
}
