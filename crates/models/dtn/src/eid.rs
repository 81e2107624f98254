//! Endpoint identifiers (RFC 9171, section 4.2.5.1), of the schemes `dtn` and `ipn`.

use core::fmt;
use core::str::FromStr;

use serde::{Deserialize, Serialize};

/// The longest endpoint identifier that is taken, in octets of its text.
pub(crate) const MAX_OCTETS: usize = 1_023;

/// An endpoint: `dtn:none`, `dtn://node/service` or `ipn:node.service`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Eid {
    /// `dtn:none`, which nobody is registered for.
    #[default]
    None,
    /// `dtn:` and this: `//node/service`. The service may be empty: the node's own, administrative endpoint. One that
    /// begins with `~` is of a group.
    Dtn(Box<str>),
    /// `ipn:node.service`. Service 0 is the node's administrative endpoint. An allocator (RFC 9758) is in the upper
    /// half of the node number.
    Ipn {
        /// The node.
        node: u64,
        /// The service.
        service: u64,
    },
}

/// Why a text is no endpoint identifier.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not an endpoint identifier: {why}; write dtn://node/service, ipn:1.2 or dtn:none")]
pub struct EidError {
    /// What was read.
    pub text: String,
    /// What is wrong with it.
    pub why: &'static str,
}

impl Eid {
    /// The endpoint `dtn://node/service`.
    pub fn dtn(node: &str, service: &str) -> Result<Self, EidError> {
        format!("dtn://{node}/{service}").parse()
    }

    /// The administrative endpoint of the node that it belongs to: `dtn://node/` or `ipn:node.0`.
    #[must_use]
    pub fn node(&self) -> Self {
        match self {
            Self::None => Self::None,
            Self::Dtn(ssp) => Self::Dtn(ssp[..=Self::node_end(ssp)].into()),
            Self::Ipn { node, .. } => Self::Ipn { node: *node, service: 0 },
        }
    }

    /// The node's name or number, as text.
    pub fn node_name(&self) -> String {
        match self {
            Self::None => "none".to_owned(),
            Self::Dtn(ssp) => ssp[2..Self::node_end(ssp)].to_owned(),
            Self::Ipn { node, .. } => node.to_string(),
        }
    }

    /// Another service of the same node. With `ipn`, the service's number is what the name says, or 1 + a hash of it.
    #[must_use]
    pub fn service(&self, name: &str) -> Self {
        match self {
            Self::None => Self::None,
            Self::Dtn(ssp) => Self::Dtn(format!("{}{name}", &ssp[..=Self::node_end(ssp)]).into()),
            Self::Ipn { node, .. } => {
                let number = name.parse().unwrap_or_else(|_| {
                    1 + name.bytes().fold(5_381_u64, |h, b| h.wrapping_mul(33) ^ u64::from(b)) % 0xffff
                });
                Self::Ipn { node: *node, service: number }
            }
        }
    }

    /// Whether both belong to one node.
    pub fn same_node(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Dtn(a), Self::Dtn(b)) => a[..=Self::node_end(a)] == b[..=Self::node_end(b)],
            (Self::Ipn { node: a, .. }, Self::Ipn { node: b, .. }) => a == b,
            _ => false,
        }
    }

    /// Whether one node only is registered for it. `dtn` services that begin with `~` are not (RFC 9171, section 4.2.5.1.1).
    pub fn is_singleton(&self) -> bool {
        match self {
            Self::None => false,
            Self::Dtn(ssp) => !ssp[Self::node_end(ssp) + 1..].starts_with('~'),
            Self::Ipn { .. } => true,
        }
    }

    /// Whether it is `dtn:none`.
    pub fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }

    /// Checks the part after `dtn:`.
    pub(crate) fn check_ssp(ssp: &str) -> Result<(), &'static str> {
        let rest = ssp.strip_prefix("//").ok_or("`//` is missing after `dtn:`")?;
        let (node, _) = rest.split_once('/').ok_or("`/` is missing after the node's name")?;
        if node.is_empty() {
            return Err("the node's name is empty");
        }
        if ssp.len() > MAX_OCTETS {
            return Err("it is longer than 1023 octets");
        }
        if !ssp.bytes().all(|b| b.is_ascii_graphic()) {
            return Err("it has characters other than visible ones of ASCII");
        }
        Ok(())
    }

    /// Where the `/` after the node's name is.
    fn node_end(ssp: &str) -> usize {
        2 + ssp[2..].find('/').unwrap_or_default()
    }
}

impl FromStr for Eid {
    type Err = EidError;

    fn from_str(text: &str) -> Result<Self, EidError> {
        let error = |why| EidError { text: text.chars().take(80).collect(), why };
        if text == "dtn:none" {
            return Ok(Self::None);
        }
        if let Some(ssp) = text.strip_prefix("dtn:") {
            // A node's own identifier is often written without the last `/`.
            let bare = ssp.strip_prefix("//").is_some_and(|rest| !rest.contains('/'));
            let ssp = if bare { format!("{ssp}/") } else { ssp.to_owned() };
            Self::check_ssp(&ssp).map_err(error)?;
            return Ok(Self::Dtn(ssp.into()));
        }
        let numbers = text.strip_prefix("ipn:").ok_or_else(|| error("its scheme is neither dtn nor ipn"))?;
        let parts: Vec<u64> = numbers
            .split('.')
            .map(str::parse)
            .collect::<Result<_, _>>()
            .map_err(|_| error("what is between the dots of an ipn identifier is a number"))?;
        match parts[..] {
            // RFC 9758, section 3.4.1: the null identifier.
            [0, 0] | [0, 0, 0] => Ok(Self::None),
            [0, _] => Err(error("node 0 does not exist")),
            [node, service] => Ok(Self::Ipn { node, service }),
            [allocator, node, service] if allocator <= 0xffff_ffff && node <= 0xffff_ffff => {
                Ok(Self::Ipn { node: allocator << 32 | node, service })
            }
            _ => Err(error("an ipn identifier has two or three numbers")),
        }
    }
}

impl fmt::Display for Eid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("dtn:none"),
            Self::Dtn(ssp) => write!(f, "dtn:{ssp}"),
            Self::Ipn { node, service } if node >> 32 != 0 => {
                write!(f, "ipn:{}.{}.{service}", node >> 32, node & 0xffff_ffff)
            }
            Self::Ipn { node, service } => write!(f, "ipn:{node}.{service}"),
        }
    }
}

impl TryFrom<String> for Eid {
    type Error = EidError;
    fn try_from(text: String) -> Result<Self, EidError> {
        text.parse()
    }
}

impl From<Eid> for String {
    fn from(eid: Eid) -> Self {
        eid.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_read_as_they_are_written() {
        for text in ["dtn:none", "dtn://a/", "dtn://a/inbox", "dtn://a/~group", "ipn:1.2", "ipn:977000.5.1"] {
            assert_eq!(text.parse::<Eid>().unwrap().to_string(), text);
        }
        assert_eq!("dtn://a".parse::<Eid>().unwrap().to_string(), "dtn://a/");
        assert_eq!("ipn:0.0".parse::<Eid>().unwrap(), Eid::None);
    }

    #[test]
    fn what_is_no_identifier_is_refused_with_the_reason() {
        for text in
            ["", "a", "dtn:", "dtn:a", "dtn:///x", "dtn://a b/", "ipn:1", "ipn:0.1", "ipn:1.x", "http://a/"]
        {
            assert!(text.parse::<Eid>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_node_and_its_services_belong_together() {
        let inbox: Eid = "dtn://a/inbox".parse().unwrap();
        assert_eq!(inbox.node().to_string(), "dtn://a/");
        assert_eq!(inbox.service("x").to_string(), "dtn://a/x");
        assert!(inbox.same_node(&"dtn://a/other".parse().unwrap()));
        assert!(!inbox.same_node(&"dtn://ab/inbox".parse().unwrap()));
        assert!(!"dtn://a/~all".parse::<Eid>().unwrap().is_singleton());
        let ipn: Eid = "ipn:7.3".parse().unwrap();
        assert_eq!(ipn.node().to_string(), "ipn:7.0");
        assert_eq!(ipn.service("9").to_string(), "ipn:7.9");
    }
}
