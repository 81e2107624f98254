//! The unit of a key, from its name.

/// Endings of names; an ending that contains another comes before it.
const ENDINGS: &[(&str, &str)] = &[
    ("_us_per_byte", "us/octet"),
    ("_packets", "packets"),
    ("_bytes", "octets"),
    ("_mbps", "Mb/s"),
    ("_bps", "bit/s"),
    ("_pps", "packets/s"),
    ("_mps", "m/s"),
    ("_mhz", "MHz"),
    ("_dbm", "dBm"),
    ("_dbi", "dBi"),
    ("_db", "dB"),
    ("_us", "us"),
    ("_ms", "ms"),
    ("_s", "s"),
    ("_m", "m"),
    ("_w", "W"),
    ("_j", "J"),
];

/// Names that do not end with a unit.
const NAMES: &[(&[&str], &str)] = &[
    (&["cw_min", "cw_max"], "slots"),
    (&["window", "initial_window"], "segments"),
    (&["bytes"], "octets"),
    (&["card_buffers", "card_receive_buffers"], "frames"),
    (&["x", "y", "z", "alt"], "m"),
    (&["lat", "lon"], "degrees"),
];

/// The unit of the value of a key, if it has one.
pub fn unit(key: &str) -> Option<&'static str> {
    let name = key.rsplit_once('.').map_or(key, |(_, name)| name);
    let by_name = NAMES.iter().find(|(names, _)| names.contains(&name)).map(|(_, unit)| *unit);
    by_name.or_else(|| Some(ENDINGS.iter().find(|(end, _)| name.ends_with(end))?.1))
}

#[cfg(test)]
mod tests {
    use super::unit;

    #[test]
    fn names_tell_units() {
        for (key, expected) in [
            ("radio.tx_power_dbm", Some("dBm")),
            ("radio.card_send_us_per_byte", Some("us/octet")),
            ("traffic.0.rate_bps", Some("bit/s")),
            ("radio.data_rate_mbps", Some("Mb/s")),
            ("movement.speed_max_mps", Some("m/s")),
            ("movement.spacing_m", Some("m")),
            ("movement.positions.3.x", Some("m")),
            ("duration_s", Some("s")),
            ("radio.cw_min", Some("slots")),
            ("protocol.mtu_bytes", Some("octets")),
            ("protocol.name", None),
            ("traffic.0.jitter", None),
        ] {
            assert_eq!(unit(key), expected, "{key}");
        }
    }
}
