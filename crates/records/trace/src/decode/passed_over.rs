//! What is counted of a capture's frames in which no IP packet was found.

use std::collections::BTreeMap;

use super::link::NoPacket;
use super::link_type::DECODED;

/// The frames of a capture in which no IP packet was found, by the reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PassedOver {
    link_types: BTreeMap<u16, u64>,
    bad_fcs: u64,
    encrypted: u64,
    not_ip: u64,
}

impl PassedOver {
    /// Counts a frame.
    pub fn add(&mut self, why: NoPacket) {
        *match why {
            NoPacket::LinkType(t) => self.link_types.entry(t).or_default(),
            NoPacket::BadFcs => &mut self.bad_fcs,
            NoPacket::Encrypted => &mut self.encrypted,
            NoPacket::NotIp => &mut self.not_ip,
        } += 1;
    }

    /// The frames whose link types are not supported, and what to do; `None` without such frames.
    pub fn undecoded(&self) -> Option<String> {
        let one = |(t, n): (&u16, &u64)| {
            format!("{n} {} of link type {t}", if *n == 1 { "frame" } else { "frames" })
        };
        let list: Vec<String> = self.link_types.iter().map(one).collect();
        (!list.is_empty()).then(|| {
            format!(
                "cannot decode {} (see https://www.tcpdump.org/linktypes.html); capture on an interface of one of these \
                 types: {DECODED}",
                list.join(", ")
            )
        })
    }

    /// The frames of known link types, by why they have no packet, as " (2 encrypted, 3 with a wrong FCS)"; empty if there are none.
    pub fn reasons(&self) -> String {
        let all = [
            (self.encrypted, "encrypted"),
            (self.bad_fcs, "with a wrong FCS"),
            (self.not_ip, "without an IP packet"),
        ];
        let list: Vec<String> =
            all.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
        if list.is_empty() { String::new() } else { format!(" ({})", list.join(", ")) }
    }
}
