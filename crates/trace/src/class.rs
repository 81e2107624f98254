//! What a packet is for, as summaries, tables and traces name it.

/// The kind of a packet: an application's data, or a routing message.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum PacketClass {
    /// Constant-bit-rate data.
    Cbr,
    /// Data with exponential intervals.
    Poisson,
    /// ICMP echo and echo reply.
    Ping,
    /// A TCP segment.
    Tcp,
    /// Data of any other application.
    Data,
    /// A DSR Route Request (RFC 4728, section 6.2).
    DsrRreq,
    /// A DSR Route Reply (section 6.3).
    DsrRrep,
    /// A DSR Route Error (section 6.4).
    DsrRerr,
    /// A DSR Acknowledgement or a request for one, without data (sections 6.5 and 6.6).
    DsrAck,
    /// Any other DSR packet without data.
    DsrOther,
    /// An AODV Route Request (RFC 3561, section 5.1).
    AodvRreq,
    /// An AODV Route Reply (section 5.2).
    AodvRrep,
    /// An AODV Route Error (section 5.3).
    AodvRerr,
    /// An AODV Hello: a Route Reply for the sender itself, sent to all neighbours (section 6.9).
    AodvHello,
    /// An AODV Route Reply Acknowledgement (section 5.4).
    AodvRrepAck,
    /// Address resolution.
    Arp,
}

impl PacketClass {
    /// Every class, in order.
    pub const ALL: [Self; 16] = [
        Self::Cbr,
        Self::Poisson,
        Self::Ping,
        Self::Tcp,
        Self::Data,
        Self::DsrRreq,
        Self::DsrRrep,
        Self::DsrRerr,
        Self::DsrAck,
        Self::DsrOther,
        Self::AodvRreq,
        Self::AodvRrep,
        Self::AodvRerr,
        Self::AodvHello,
        Self::AodvRrepAck,
        Self::Arp,
    ];

    /// The name in tables, and the key in the summary's `by_type` for routing messages. Both protocols call a Route
    /// Request `rreq`; [`PacketClass::protocol`] tells them apart.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cbr => "cbr",
            Self::Poisson => "poisson",
            Self::Ping => "ping",
            Self::Tcp => "tcp",
            Self::Data => "data",
            Self::DsrRreq | Self::AodvRreq => "rreq",
            Self::DsrRrep | Self::AodvRrep => "rrep",
            Self::DsrRerr | Self::AodvRerr => "rerr",
            Self::DsrAck => "ack",
            Self::DsrOther => "other",
            Self::AodvHello => "hello",
            Self::AodvRrepAck => "rrep_ack",
            Self::Arp => "arp",
        }
    }

    /// The routing protocol whose message it is; `None` for data and ARP.
    pub const fn protocol(self) -> Option<&'static str> {
        match self {
            Self::DsrRreq | Self::DsrRrep | Self::DsrRerr | Self::DsrAck | Self::DsrOther => Some("dsr"),
            Self::AodvRreq | Self::AodvRrep | Self::AodvRerr | Self::AodvHello | Self::AodvRrepAck => {
                Some("aodv")
            }
            Self::Cbr | Self::Poisson | Self::Ping | Self::Tcp | Self::Data | Self::Arp => None,
        }
    }

    /// Whether it counts as a routing packet.
    pub const fn is_control(self) -> bool {
        self.protocol().is_some()
    }
}

/// The routing messages inside one packet. A DSR packet may carry several (a Route Error on a Route Request), and a data
/// packet may carry some too; captures show each of them, so counts per type are counts of these.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Messages(pub u8);

impl Messages {
    /// No routing message.
    pub const NONE: Self = Self(0);
    /// Route Request.
    pub const RREQ: Self = Self(1);
    /// Route Reply.
    pub const RREP: Self = Self(1 << 1);
    /// Route Error.
    pub const RERR: Self = Self(1 << 2);
    /// DSR Acknowledgement.
    pub const ACK: Self = Self(1 << 3);
    /// DSR Acknowledgement Request.
    pub const ACK_REQUEST: Self = Self(1 << 4);
    /// AODV Hello.
    pub const HELLO: Self = Self(1 << 5);
    /// AODV Route Reply Acknowledgement.
    pub const RREP_ACK: Self = Self(1 << 6);
    /// Each single message with the key under which the summary's `by_type` counts it.
    pub const NAMES: [(Self, &'static str); 7] = [
        (Self::RREQ, "rreq"),
        (Self::RREP, "rrep"),
        (Self::RERR, "rerr"),
        (Self::ACK, "ack"),
        (Self::ACK_REQUEST, "ack_request"),
        (Self::HELLO, "hello"),
        (Self::RREP_ACK, "rrep_ack"),
    ];

    /// Both sets together.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
    /// Whether all of `other` is in this set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
    /// The keys of the messages in this set.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Self::NAMES.into_iter().filter(move |(m, _)| self.contains(*m)).map(|(_, name)| name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_is_complete_and_in_order() {
        for (i, c) in PacketClass::ALL.iter().enumerate() {
            assert_eq!(*c as usize, i);
        }
    }

    #[test]
    fn a_packet_may_carry_several_messages() {
        let both = Messages::RREQ.with(Messages::RERR);
        assert_eq!(both.names().collect::<Vec<_>>(), ["rreq", "rerr"]);
        assert!(!both.contains(Messages::RREP));
    }
}
