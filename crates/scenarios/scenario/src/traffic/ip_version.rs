//! Which version of IP a flow or a route has.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of IP: 4 or 6.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "u8", into = "u8")]
#[schemars(with = "u8")]
pub enum IpVersion {
    /// IPv4.
    #[default]
    V4,
    /// IPv6.
    V6,
}

impl TryFrom<u8> for IpVersion {
    type Error = String;

    fn try_from(version: u8) -> Result<Self, String> {
        match version {
            4 => Ok(Self::V4),
            6 => Ok(Self::V6),
            other => Err(format!("there is no IP version {other}; give 4 or 6")),
        }
    }
}

impl From<IpVersion> for u8 {
    fn from(version: IpVersion) -> Self {
        match version {
            IpVersion::V4 => 4,
            IpVersion::V6 => 6,
        }
    }
}

impl IpVersion {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::V4
    }
}
