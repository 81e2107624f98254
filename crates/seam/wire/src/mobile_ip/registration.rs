//! Registration requests (section 3.3) and replies (section 3.4).

use core::fmt;
use core::ops::BitOr;
use std::net::Ipv4Addr;

use super::extension::Extensions;
use crate::bytes::{addr_at, array_at, put, u8_at, u16_at};
use crate::{Error, refuse_if};

const REQUEST: u8 = 1;
const REPLY: u8 = 3;

/// A message of registration: its fixed part, and the extensions behind it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Message<'a> {
    /// A mobile node wants its packets at a care-of address.
    Request(Request, Extensions<'a>),
    /// What its home agent, or the foreign agent on the way, says to that.
    Reply(Reply, Extensions<'a>),
}

/// Registration Request.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// What the mobile node asks for.
    pub flags: RequestFlags,
    /// For how long, in seconds; 0 ends the binding, [`INFINITE`](super::INFINITE) has no end.
    pub lifetime_s: u16,
    /// The address by which all others know the mobile node.
    pub home: Ipv4Addr,
    /// Its home agent.
    pub home_agent: Ipv4Addr,
    /// The end of the tunnel.
    pub care_of: Ipv4Addr,
    /// A number that belongs to this request, against replays.
    pub identification: u64,
}

/// Registration Reply.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Whether the request was accepted.
    pub code: Code,
    /// For how long, in seconds; 0 if the binding has ended.
    pub lifetime_s: u16,
    /// The mobile node's address.
    pub home: Ipv4Addr,
    /// Its home agent.
    pub home_agent: Ipv4Addr,
    /// That of the request, or what the home agent wants instead.
    pub identification: u64,
}

/// Flags of a request (section 3.3).
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestFlags(u8);

impl RequestFlags {
    /// S: keep earlier bindings.
    pub const SIMULTANEOUS: Self = Self(0x80);
    /// B: broadcasts of the home network, too.
    pub const BROADCASTS: Self = Self(0x40);
    /// D: the mobile node takes packets out of the tunnel itself: the care-of address is its own.
    pub const CO_LOCATED: Self = Self(0x20);
    /// M: minimal encapsulation (RFC 2004).
    pub const MINIMAL_ENCAPSULATION: Self = Self(0x10);
    /// G: generic routing encapsulation.
    pub const GRE: Self = Self(0x08);
    /// T: a reverse tunnel (RFC 3024).
    pub const REVERSE_TUNNEL: Self = Self(0x02);
    const KNOWN: u8 = 0xfa;

    /// Whether all of these are set.
    pub const fn has(self, of: Self) -> bool {
        self.0 & of.0 == of.0
    }
}

impl BitOr for RequestFlags {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The code of a reply (section 3.4; RFC 3024).
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Code(pub u8);

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $value:literal, $text:literal;)*) => {
        impl Code {
            $($(#[doc = $doc])+ pub const $name: Self = Self($value);)*

            /// What the code says, in the RFC's words.
            pub const fn text(self) -> &'static str {
                match self.0 {
                    $($value => $text,)*
                    _ => "unknown code",
                }
            }
        }
    };
}

codes! {
    /// The binding is made.
    ACCEPTED = 0, "registration accepted";
    /// The binding is made; earlier ones have ended.
    ACCEPTED_WITHOUT_SIMULTANEOUS = 1, "registration accepted, but simultaneous mobility bindings unsupported";
    /// The foreign agent refuses and does not say why.
    FOREIGN_UNSPECIFIED = 64, "foreign agent: reason unspecified";
    /// Its administrator does not allow this.
    FOREIGN_PROHIBITED = 65, "foreign agent: administratively prohibited";
    /// Its tables are full.
    FOREIGN_RESOURCES = 66, "foreign agent: insufficient resources";
    /// The mobile-foreign authenticator is wrong.
    FOREIGN_MOBILE_AUTHENTICATION = 67, "foreign agent: mobile node failed authentication";
    /// The foreign-home authenticator is wrong.
    FOREIGN_HOME_AUTHENTICATION = 68, "foreign agent: home agent failed authentication";
    /// Longer than it advertises.
    FOREIGN_LIFETIME = 69, "foreign agent: requested lifetime too long";
    /// The request is not made as it must be.
    FOREIGN_POOR_REQUEST = 70, "foreign agent: poorly formed request";
    /// The home agent's reply is not.
    FOREIGN_POOR_REPLY = 71, "foreign agent: poorly formed reply";
    /// It has IP-in-IP only.
    FOREIGN_ENCAPSULATION = 72, "foreign agent: requested encapsulation unavailable";
    /// It has no reverse tunnels.
    FOREIGN_REVERSE_TUNNEL = 74, "foreign agent: requested reverse tunnel unavailable";
    /// It serves those with a reverse tunnel only.
    FOREIGN_REVERSE_MANDATORY = 75, "foreign agent: reverse tunnel is mandatory and T bit not set";
    /// The request came over more than one hop.
    FOREIGN_TOO_DISTANT = 76, "foreign agent: mobile node too distant";
    /// The care-of address is not one of its own.
    FOREIGN_CARE_OF = 77, "foreign agent: invalid care-of address";
    /// The home agent did not answer.
    FOREIGN_TIMEOUT = 78, "foreign agent: registration timeout";
    /// Packets for the reverse tunnel must be delivered otherwise.
    FOREIGN_DELIVERY_STYLE = 79, "foreign agent: delivery style not supported";
    /// An ICMP error: the home network cannot be reached.
    HOME_NETWORK_UNREACHABLE = 80, "foreign agent: home network unreachable";
    /// An ICMP error: the home agent's host cannot be reached.
    HOME_HOST_UNREACHABLE = 81, "foreign agent: home agent host unreachable";
    /// An ICMP error: nobody listens at its port.
    HOME_PORT_UNREACHABLE = 82, "foreign agent: home agent port unreachable";
    /// Another ICMP error.
    HOME_UNREACHABLE = 88, "foreign agent: home agent unreachable";
    /// The home agent refuses and does not say why.
    HOME_UNSPECIFIED = 128, "home agent: reason unspecified";
    /// Its administrator does not allow this.
    HOME_PROHIBITED = 129, "home agent: administratively prohibited";
    /// Its tables are full.
    HOME_RESOURCES = 130, "home agent: insufficient resources";
    /// The mobile-home authenticator is wrong or missing.
    HOME_MOBILE_AUTHENTICATION = 131, "home agent: mobile node failed authentication";
    /// The foreign-home authenticator is wrong.
    HOME_FOREIGN_AUTHENTICATION = 132, "home agent: foreign agent failed authentication";
    /// The identification is old, or from another clock.
    HOME_IDENTIFICATION = 133, "home agent: registration identification mismatch";
    /// The request is not made as it must be.
    HOME_POOR_REQUEST = 134, "home agent: poorly formed request";
    /// The mobile node has as many bindings as it may have.
    HOME_TOO_MANY = 135, "home agent: too many simultaneous mobility bindings";
    /// The request names another home agent.
    HOME_UNKNOWN_AGENT = 136, "home agent: unknown home agent address";
    /// It has no reverse tunnels.
    HOME_REVERSE_TUNNEL = 137, "home agent: requested reverse tunnel unavailable";
    /// It serves those with a reverse tunnel only.
    HOME_REVERSE_MANDATORY = 138, "home agent: reverse tunnel is mandatory and T bit not set";
    /// It has IP-in-IP only.
    HOME_ENCAPSULATION = 139, "home agent: requested encapsulation unavailable";
}

impl Code {
    /// Whether the binding is made.
    pub const fn is_accepted(self) -> bool {
        self.0 <= 1
    }
    /// Whether a foreign agent refused.
    pub const fn is_foreign_agents(self) -> bool {
        self.0 >= 64 && self.0 < 128
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.text(), self.0)
    }
}

impl Request {
    /// Length of the fixed part, in octets.
    pub const LEN: usize = 24;

    /// Writes the fixed part. Panics if `buf` is shorter than [`Request::LEN`].
    pub fn emit(&self, buf: &mut [u8]) {
        put(buf, 0, [REQUEST, self.flags.0]);
        put(buf, 2, self.lifetime_s.to_be_bytes());
        put(buf, 4, self.home.octets());
        put(buf, 8, self.home_agent.octets());
        put(buf, 12, self.care_of.octets());
        put(buf, 16, self.identification.to_be_bytes());
    }
}

impl Reply {
    /// Length of the fixed part, in octets.
    pub const LEN: usize = 20;

    /// Writes the fixed part. Panics if `buf` is shorter than [`Reply::LEN`].
    pub fn emit(&self, buf: &mut [u8]) {
        put(buf, 0, [REPLY, self.code.0]);
        put(buf, 2, self.lifetime_s.to_be_bytes());
        put(buf, 4, self.home.octets());
        put(buf, 8, self.home_agent.octets());
        put(buf, 12, self.identification.to_be_bytes());
    }
}

impl<'a> Message<'a> {
    /// Reads the payload of a datagram.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        let len = match bytes.first() {
            None => return Err(Error::Truncated),
            Some(&REQUEST) => Request::LEN,
            Some(&REPLY) => Reply::LEN,
            Some(_) => return Err(Error::Value("type")),
        };
        refuse_if(bytes.len() < len, Error::Truncated)?;
        let extensions = Extensions::parse(bytes, len)?;
        if len == Reply::LEN {
            let reply = Reply {
                code: Code(u8_at(bytes, 1)),
                lifetime_s: u16_at(bytes, 2),
                home: addr_at(bytes, 4),
                home_agent: addr_at(bytes, 8),
                identification: u64::from_be_bytes(array_at(bytes, 12)),
            };
            return Ok(Self::Reply(reply, extensions));
        }
        let request = Request {
            flags: RequestFlags(u8_at(bytes, 1) & RequestFlags::KNOWN),
            lifetime_s: u16_at(bytes, 2),
            home: addr_at(bytes, 4),
            home_agent: addr_at(bytes, 8),
            care_of: addr_at(bytes, 12),
            identification: u64::from_be_bytes(array_at(bytes, 16)),
        };
        Ok(Self::Request(request, extensions))
    }
}
