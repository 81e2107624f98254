//! The first numbers of the protocol's messages: higher than any that the node used before a restart.
//!
//! Nothing is kept on disk: the clock advances while the node is not running. In tenths of a second
//! it outruns a protocol that counts up to ten times a second, as often as AODV may send requests
//! (RFC 3561, RREQ_RATELIMIT), and wraps around after 13 years.

use std::time::{SystemTime, UNIX_EPOCH};

use wayhop_core::Configured;
use wayhop_scenario::Protocol;

/// The protocol as of now, unless the configuration says where its numbers begin.
pub(crate) fn begin_now(configured: Configured, section: &Protocol) -> Configured {
    match configured.description().host.first_number {
        Some(key) if !section.overrides.contains_key(key) => {
            configured.with(key, by_clock(SystemTime::now()).into()).unwrap_or(configured)
        }
        _ => configured,
    }
}

/// Tenths of a second since 1970, the last 32 bits.
fn by_clock(now: SystemTime) -> u32 {
    let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    (since.as_millis() / 100) as u32
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_later_start_has_a_newer_number_also_where_32_bits_end() {
        let at = |s: f64| by_clock(UNIX_EPOCH + Duration::from_secs_f64(s));
        assert_eq!((at(0.0), at(7.05)), (0, 70));
        let end = f64::from(u32::MAX) / 10.0;
        let newer = |a: u32, b: u32| a.wrapping_sub(b) as i32 > 0;
        for start in [1.8e9, end - 3.0] {
            assert!(newer(at(start + 5.6), at(start)) && at(start + 5.6).wrapping_sub(at(start)) <= 57);
        }
    }

    #[test]
    fn what_the_configuration_says_stays() {
        let protocol = |text: &str| {
            let configured: crate::config::settings::Settings =
                crate::config::settings::Settings::from_text(&format!(
                    "interface = \"wlan0\"\naddress = \"10.0.0.1/16\"\n[protocol]\nname = \"aodv\"\n{text}"
                ))
                .expect("a configuration");
            begin_now(configured.protocol.clone(), &configured.config.protocol).values()["first_number"]
                .clone()
        };
        assert_eq!(protocol("first_number = 9"), 9);
        assert_ne!(protocol(""), 0);
    }
}
