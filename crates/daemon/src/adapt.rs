//! What a protocol must do differently on an interface that does not tell of acknowledgements.
//!
//! DSR sees to itself: its parameter `maintenance` is `auto` in the profile `rfc`, and then it asks for acknowledgements
//! of its own (RFC 4728, section 8.3.3). AODV's packets are forwarded by the kernel, which reports no losses either way, so
//! its Hellos (RFC 3561, section 6.9) must be on.

use wayhop_scenario::{Document, Error, Protocol};

/// Sets what the configuration leaves open, and refuses what would not route.
pub(crate) fn adapt(p: &mut Protocol, doc: &Document, remarks: &mut Vec<String>) -> Result<(), Error> {
    match p.name.as_str() {
        "aodv" => aodv(p, doc, remarks),
        "dsr" => dsr(p, doc),
        // The resolution names it.
        _ => Ok(()),
    }
}

fn aodv(p: &mut Protocol, doc: &Document, remarks: &mut Vec<String>) -> Result<(), Error> {
    if p.overrides.get("hello").and_then(toml::Value::as_str) == Some("off") {
        return Err(doc.error(
            "protocol.hello",
            "without Hellos no broken link is noticed where the kernel forwards",
            "give \"while_active\" or \"always\", or leave it out",
        ));
    }
    let Some(profile) = wayhop_aodv::Params::profile(&p.profile) else { return Ok(()) };
    if profile.hello != wayhop_aodv::Hello::Off {
        return Ok(());
    }
    if !p.overrides.contains_key("hello") {
        p.overrides.insert("hello".into(), "while_active".into());
        remarks.push(
            "AODV sends Hellos while it has routes (protocol.hello = \"while_active\"): the kernel forwards, and does \
             not report losses"
                .into(),
        );
    }
    // RFC 3561, section 10: TTL_START is at least 2 with Hellos; ACTIVE_ROUTE_TIMEOUT is 3 s where no link layer reports
    // lost packets, and DELETE_PERIOD 5 times that.
    let number = |key: &str, or: i64| p.overrides.get(key).and_then(toml::Value::as_integer).unwrap_or(or);
    // MY_ROUTE_TIMEOUT is twice ACTIVE_ROUTE_TIMEOUT, and at least twice PATH_DISCOVERY_TIME, 2 * NET_TRAVERSAL_TIME.
    let active = number("active_route_timeout_ms", 3_000);
    let longest = active.max(number("hello_interval_ms", 1_000));
    let per_hop = number("node_traversal_time_ms", profile.node_traversal_time_ms.cast_signed());
    let traversal =
        per_hop.saturating_mul(number("net_diameter", profile.net_diameter.into())).saturating_mul(2);
    for (key, value) in [
        ("ttl_start", 2),
        ("active_route_timeout_ms", active),
        ("my_route_timeout_ms", active.saturating_mul(2).max(traversal.saturating_mul(4))),
        ("delete_period_ms", longest.saturating_mul(5)),
    ] {
        p.overrides.entry(key).or_insert_with(|| value.into());
    }
    // On the air there are others: what the next hop reports broken is not used on, whatever numbers they forged.
    p.overrides.entry("rerr_number").or_insert_with(|| "any".into());
    Ok(())
}

fn dsr(p: &Protocol, doc: &Document) -> Result<(), Error> {
    let link_only = p.overrides.get("maintenance").and_then(toml::Value::as_str) == Some("link");
    let by_profile = !p.overrides.contains_key("maintenance")
        && wayhop_dsr::Params::profile(&p.profile)
            .is_some_and(|q| q.maintenance == wayhop_dsr::Maintenance::Link);
    if link_only || by_profile {
        return Err(doc.error(
            "protocol.maintenance",
            "\"link\" needs an interface that tells of acknowledgements, and no broken link would be noticed",
            "give \"auto\" or \"network\"",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::{Overrides, Settings};

    fn aodv(sets: &[&str]) -> wayhop_aodv::Params {
        let sets = ["interface=wlan0", "address=10.0.0.1/16", "protocol.name=aodv"].iter().chain(sets);
        let overrides = Overrides { sets: sets.map(|s| (*s).to_owned()).collect(), ..Overrides::default() };
        let settings = Settings::load(None, &overrides).unwrap();
        match settings.protocol {
            wayhop_scenario::ProtocolParams::Aodv(p) => p,
            wayhop_scenario::ProtocolParams::Dsr(_) => panic!("it is AODV"),
        }
    }

    #[test]
    fn a_node_that_nobody_tells_of_losses_has_the_constants_that_section_10_gives_for_it() {
        let p = aodv(&[]);
        // ACTIVE_ROUTE_TIMEOUT, K times that, TTL_START with Hellos.
        assert_eq!((p.active_route_timeout_ms, p.delete_period_ms, p.ttl_start), (3_000, Some(15_000), 2));
        // Twice PATH_DISCOVERY_TIME: 2 * 2 * (2 * 40 ms * 35).
        assert_eq!(p.my_route_timeout_ms, 11_200);
        assert_eq!((p.hello, p.rerr_number), (wayhop_aodv::Hello::WhileActive, wayhop_aodv::RerrNumber::Any));
        // In a small network it is twice ACTIVE_ROUTE_TIMEOUT.
        assert_eq!(aodv(&["protocol.net_diameter=6"]).my_route_timeout_ms, 6_000);
        // What is configured stays.
        let p = aodv(&["protocol.active_route_timeout_ms=5000", "protocol.rerr_number=newer"]);
        assert_eq!((p.delete_period_ms, p.my_route_timeout_ms), (Some(25_000), 11_200));
        assert_eq!(p.rerr_number, wayhop_aodv::RerrNumber::Newer);
    }
}
