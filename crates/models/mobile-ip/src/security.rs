//! Mobility security associations and authenticators (sections 5.1 and 3.5).

use core::fmt;

use hmac::{Hmac, KeyInit as _, Mac as _};
use md5::Md5;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_wire::mobile_ip::{AuthKind, Extensions, emit_authentication_head};

/// Octets of HMAC-MD5.
const AUTHENTICATOR: usize = 16;
/// Octets of type, length and index.
const HEAD: usize = 6;

/// How a home agent knows an old request from a new one.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "ReplayKind")]
pub enum Replay {
    /// By the time of day, which both have to a few seconds.
    #[default]
    Timestamps,
    /// By numbers that each gives the other.
    Nonces,
}

/// What two of mobile node, home agent and foreign agent share.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Association {
    /// Security Parameter Index: from 256 on (section 3.5.1).
    pub(crate) spi: u32,
    /// The key of HMAC-MD5, which every implementation has (section 5.1).
    pub(crate) key: Vec<u8>,
    /// Against replays; between mobile node and home agent.
    pub(crate) replay: Replay,
}

impl fmt::Debug for Association {
    /// Without the key: it must not get into a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Association")
            .field("spi", &self.spi)
            .field("replay", &self.replay)
            .finish_non_exhaustive()
    }
}

fn mac(key: &[u8], protects: &[u8]) -> Option<Hmac<Md5>> {
    let mut mac = Hmac::<Md5>::new_from_slice(key).ok()?;
    mac.update(protects);
    Some(mac)
}

/// HMAC-MD5 (RFC 2104), the default algorithm.
pub fn authenticator(key: &[u8], protects: &[u8]) -> [u8; AUTHENTICATOR] {
    // A key may have any length, none too.
    mac(key, protects).map_or([0; AUTHENTICATOR], |m| m.finalize().into_bytes().into())
}

/// Appends an authentication extension over what the message has so far.
pub(crate) fn seal(message: &mut Vec<u8>, kind: AuthKind, with: &Association) {
    let at = message.len();
    message.resize(at + HEAD, 0);
    emit_authentication_head(&mut message[at..], kind, with.spi, AUTHENTICATOR as u8);
    let code = authenticator(&with.key, message);
    message.extend_from_slice(&code);
}

/// What an authentication extension is worth.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum ExtensionVerdict {
    Missing,
    Wrong,
    Right,
}

/// Looks at the first authenticator of a kind.
pub(crate) fn verify(extensions: &Extensions<'_>, kind: AuthKind, with: &Association) -> ExtensionVerdict {
    let Some(found) = extensions.authentication(kind) else { return ExtensionVerdict::Missing };
    let right = found.spi == with.spi
        && mac(&with.key, found.protects).is_some_and(|m| m.verify_slice(found.authenticator).is_ok());
    if right { ExtensionVerdict::Right } else { ExtensionVerdict::Wrong }
}

#[cfg(test)]
mod tests {
    use wayhop_core::hex;

    use super::*;

    #[test]
    fn the_authenticator_is_hmac_md5_of_rfc_2202() {
        // Test cases 1, 2 and 6 of RFC 2202, section 2.
        for (key, data, digest) in [
            (vec![0x0b; 16], &b"Hi There"[..], "9294727a3638bb1c13f48ef8158bfc9d"),
            (b"Jefe".to_vec(), b"what do ya want for nothing?", "750c783e6ab0b503eaa86e310a5db738"),
            (
                vec![0xaa; 80],
                b"Test Using Larger Than Block-Size Key - Hash Key First",
                "6b1ab7fe4bd7bf8f0b62e6ce61b9d0cd",
            ),
        ] {
            assert_eq!(hex(&authenticator(&key, data)), digest);
        }
    }

    #[test]
    fn no_key_gets_into_a_log() {
        let a = Association { spi: 256, key: b"secret".to_vec(), replay: Replay::Nonces };
        assert!(!format!("{a:?}").contains(&format!("{:?}", b"secret".to_vec())));
        assert!(format!("{a:?}").contains("256"));
    }
}
