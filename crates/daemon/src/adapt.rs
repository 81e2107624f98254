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
    let off = wayhop_aodv::Params::profile(&p.profile).is_some_and(|q| q.hello == wayhop_aodv::Hello::Off);
    if !off {
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
    let active = number("active_route_timeout_ms", 3_000);
    let longest = active.max(number("hello_interval_ms", 1_000));
    for (key, value) in [
        ("ttl_start", 2),
        ("active_route_timeout_ms", active),
        ("delete_period_ms", longest.saturating_mul(5)),
    ] {
        p.overrides.entry(key).or_insert_with(|| value.into());
    }
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
