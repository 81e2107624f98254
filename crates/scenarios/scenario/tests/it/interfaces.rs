//! Scenarios with several radios and wires.

use wayhop_radio::Arp;
use wayhop_scenario::Attachment::{Radio, Wire};
use wayhop_scenario::{Resolved, Scenario, export_ns2};

const HEAD: &str = "nodes.count = 4\nmovement = { kind = \"chain\", spacing_m = 200 }\n";

fn resolve(text: &str) -> Result<Resolved, String> {
    let text = format!("{HEAD}{text}");
    Scenario::from_text(&text, &[]).and_then(|s| s.resolve()).map_err(|e| e.to_string())
}

#[test]
fn a_nodes_interfaces_are_its_radios_in_order_and_then_its_wires() {
    let r = resolve(
        "[radio]\npreset = \"80211b\"\nchannel = 1\nnodes = [0, 1]\nname = \"wlan0\"\n\
         [[radios]]\npreset = \"80211g\"\nchannel = 6\nnodes = [2, 1]\n\
         [[radios]]\npreset = \"80211g\"\nchannel = 149\nnodes = [1]\n\
         [[wires]]\nnodes = [3, 1]\n[[wires]]\nnodes = [3, 0]\ndelay_us = 2.5\nname = \"spare\"\n",
    )
    .unwrap();
    let of = r.interfaces.by_node(4);
    assert_eq!(of[0], [Radio(0), Wire(1)]);
    assert_eq!(of[1], [Radio(0), Radio(1), Radio(2), Wire(0)]);
    assert_eq!((&of[2][..], &of[3][..]), (&[Radio(1)][..], &[Wire(0), Wire(1)][..]));
    assert_eq!(r.interfaces.names().collect::<Vec<_>>(), ["wlan0", "radio1", "radio2", "wire0", "spare"]);
    let mhz: Vec<f64> = r.interfaces.radios.iter().map(|r| r.config.frequency_mhz).collect();
    assert_eq!(mhz, [2412.0, 2437.0, 5745.0]);
    assert_eq!(r.interfaces.wires[1].delay.as_nanos(), 2_500);
}

#[test]
fn a_scenario_without_them_has_one_radio_for_all() {
    let r = resolve("").unwrap();
    assert!(r.interfaces.is_single());
    assert!(!resolve("radio.nodes = [0, 1, 2, 3]").unwrap().interfaces.is_single());
}

#[test]
fn the_profile_decides_how_hosts_find_link_addresses() {
    let arp = |text: &str| resolve(text).unwrap().interfaces.radios[0].config.arp;
    for protocol in ["dsr", "aodv", "dsdv"] {
        for preset in ["wavelan-914-cmu", "wavelan-914-ns2", "wavelan-914-sinr", "80211b", "80211g"] {
            let with = |more: &str| {
                arp(&format!("protocol.name = \"{protocol}\"\nradio.preset = \"{preset}\"\n{more}"))
            };
            assert_eq!(with(""), Arp::Host, "{protocol} {preset}");
            assert_eq!(with("protocol.profile = \"ns2\""), Arp::HoldOne, "{protocol} {preset}");
            assert_eq!(with("radio.arp = \"hold-one\""), Arp::HoldOne, "{protocol} {preset}");
            assert_eq!(
                with("protocol.profile = \"ns2\"\nradio.arp = \"host\""),
                Arp::Host,
                "{protocol} {preset}"
            );
        }
    }
    // The testbeds' presets have none, whatever the profile.
    assert_eq!(
        arp("protocol = { name = \"dsr\", profile = \"ns2\" }\nradio.preset = \"wavelan-i\""),
        Arp::None
    );
}

/// Each text is refused with this message.
fn assert_refused(cases: &[(String, &str)]) {
    for (text, message) in cases {
        let e = resolve(text).expect_err(text);
        assert!(e.contains(message), "{text}\n{e}\ninstead of\n{message}");
    }
}

#[test]
fn mistakes_about_radios_are_named_by_key_and_remedy() {
    let b = |channel: u32, key: &str| format!("{key}\npreset = \"80211b\"\nchannel = {channel}\n");
    let two = |first, second| b(first, "[radio]") + &b(second, "[[radios]]");
    assert_refused(&[
        (
            two(1, 3),
            "line 8, column 1: radios[0].channel: its spectrum (2411 to 2433 MHz) overlaps that of radio \"radio\" (2401 to \
             2423 MHz), and Wayhop models no interference between channels; these channels are far enough apart: 6, 7, 8, 9, \
             10, 11, 12, 13, 14; put nodes on the same channel into one radio",
        ),
        (
            two(6, 6),
            "radios[0].channel: radio \"radio\" uses 2437 MHz too, and a channel has one configuration;",
        ),
        (
            two(1, 15),
            "radios[0].channel: IEEE 802.11 has no channel 15; give 1 to 14 (2.4 GHz), or one of 36,",
        ),
        (
            two(1, 36),
            "radios[0].channel: channel 36 is in the 5 GHz band, where DSSS does not exist; choose a channel from 1 to 14,",
        ),
        (
            "radio = { channel = 1 }".to_owned(),
            "radio.channel: preset `wavelan-914-cmu` is a 914 MHz radio without channel numbers; set frequency_mhz,",
        ),
        (
            b(1, "[radio]") + "frequency_mhz = 2412",
            "radio.channel: both channel and frequency_mhz are given; remove one of them",
        ),
        ("radio = { nodes = [] }".to_owned(), "radio.nodes: no node has this radio; name nodes,"),
        ("radio = { nodes = [0, 7] }".to_owned(), "radio.nodes[1]: there is no node 7; the nodes are 0 to 3"),
        ("radio = { nodes = [0, 1, 0] }".to_owned(), "radio.nodes[2]: node 0 is listed twice; list each"),
        (
            "radio = { nodes = [0, 1, 2] }".to_owned(),
            "radio.nodes: node 3 has no interface; add it to the `nodes` of a radio or wire,",
        ),
    ]);
}

#[test]
fn mistakes_about_wires_are_named_by_key_and_remedy() {
    assert_refused(&[
        (
            "wires = [{ nodes = [1] }]".to_owned(),
            "wires[0].nodes: only one node is attached to this wire; name at least two nodes,",
        ),
        (
            "wires = [{ nodes = [] }]".to_owned(),
            "wires[0].nodes: no node is attached to this wire; name at least two nodes,",
        ),
        ("wires = [{ nodes = [1, 1] }]".to_owned(), "wires[0].nodes[1]: node 1 is listed twice;"),
        (
            "wires = [{ nodes = [1, \"gate\"] }]".to_owned(),
            "wires[0].nodes[1]: there is no node named \"gate\";",
        ),
        (
            "wires = [{ nodes = [0, 1], loss = 2 }]".to_owned(),
            "wires[0].loss: 2 is not a number from 0 to 1;",
        ),
        (
            "wires = [{ nodes = [0, 1], rate_mbps = 0 }]".to_owned(),
            "wires[0].rate_mbps: 0 is not a number from 0.001",
        ),
        ("wires = [{ nodes = [0, 1], rate = 3 }]".to_owned(), "unknown key `rate`"),
        (
            "wires = [{ nodes = [0, 1], name = \"a b\" }]".to_owned(),
            "wires[0].name: \"a b\" is not a valid interface name;",
        ),
        (
            "wires = [{ nodes = [0, 1], name = \"radio\" }]".to_owned(),
            "wires[0].name: \"radio\" is also the name of radio; give each radio and wire its own name",
        ),
        (
            "wires = [{ nodes = [0, 1], cuts = [{ start_s = 5 }, { start_s = 9 }] }]".to_owned(),
            "wires[0].cuts[1].start_s: the wire is already cut at that time;",
        ),
        (
            "wires = [{ nodes = [0, 1] }]\nstalls = [{ node = 0, interface = \"wire1\", length_s = 1 }]"
                .to_owned(),
            "stalls[0].interface: there is no interface named \"wire1\"; did you mean \"wire0\"?",
        ),
        (
            "wires = [{ nodes = [0, 1] }]\nstalls = [{ node = 2, interface = \"wire0\", length_s = 1 }]"
                .to_owned(),
            "stalls[0].interface: node 2 has no interface \"wire0\"; name one of its interfaces, or remove the key",
        ),
    ]);
}

#[test]
fn ns2_gets_no_scenario_with_several_interfaces() {
    let r = resolve("wires = [{ nodes = [0, 1] }]").unwrap();
    let e = export_ns2(&r, wayhop_simulator_files::ns2::ExportOptions::default()).unwrap_err().to_string();
    assert!(e.starts_with("ns-2 nodes have one radio each"), "{e}");
}
