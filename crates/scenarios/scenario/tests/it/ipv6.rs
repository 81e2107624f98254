//! IPv6 addresses and static routes in scenarios: their effects and their error messages.

use std::net::Ipv6Addr;

use wayhop_core::IfaceId;
use wayhop_scenario::{Resolved, Scenario};

const GOOD: &str = "movement = { kind = \"chain\", spacing_m = 200 }\nprotocol.name = \"none\"\n\
    nodes = { count = 3, ipv6 = true }\n\
    traffic = [{ kind = \"ping\", src = 0, dst = 2, ip = 6 }]\n\
    routes = [{ node = 0, destination = 2, via = 1, ip = 6 }]\n";

fn resolved(text: &str) -> Resolved {
    Scenario::from_text(text, &[]).and_then(|s| s.resolve()).unwrap_or_else(|e| panic!("{e}"))
}

fn message(text: &str) -> String {
    Scenario::from_text(text, &[]).and_then(|s| s.resolve()).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn addresses_count_from_the_prefix_and_nodes_may_have_their_own() {
    let a = |text: &str| text.parse::<Ipv6Addr>().unwrap();
    let plan = resolved(GOOD).ipv6.unwrap();
    assert_eq!(
        (plan.addresses, plan.prefix_len),
        (vec![a("fd00:77::1"), a("fd00:77::2"), a("fd00:77::3")], 64)
    );
    let other = GOOD
        .replace("ipv6 = true", "ipv6 = \"2001:db8::/32\", node = [{ id = 1, address6 = \"2001:db8::99\" }]");
    let plan = resolved(&other).ipv6.unwrap();
    assert_eq!(
        (plan.addresses[..2].to_vec(), plan.prefix_len),
        (vec![a("2001:db8::1"), a("2001:db8::99")], 32)
    );
    assert_eq!(resolved(&GOOD.replace("ipv6 = true", "ipv6 = false").replace(", ip = 6", "")).ipv6, None);
}

#[test]
fn static_routes_name_nodes_and_prefixes_of_either_family() {
    let shown = |text: &str| {
        let r = resolved(text).routes[0].1;
        format!("{} by {}", r.destination, r.next_hop)
    };
    assert_eq!(shown(GOOD), "fd00:77::3 by fd00:77::2");
    assert_eq!(shown(&GOOD.replace("via = 1, ip = 6", "via = 1")), "10.0.0.3 by 10.0.0.2");
    for (destination, route) in [
        ("10.1.2.3/16", "10.1.0.0/16 by 10.0.0.2"),
        ("10.9.9.9", "10.9.9.9 by 10.0.0.2"),
        ("2001:db8::/32", "2001:db8::/32 by fd00:77::2"),
        ("::/0", "::/0 by fd00:77::2"),
    ] {
        let text = GOOD.replace(
            "destination = 2, via = 1, ip = 6",
            &format!("destination = \"{destination}\", via = 1"),
        );
        assert_eq!(shown(&text), route);
    }
}

#[test]
fn each_mistake_is_named_by_key_and_remedy() {
    let cases = [
        ("ip = 6 }]\nroutes", "ip = 5 }]\nroutes", "there is no IP version 5; give 4 or 6"),
        (
            "ipv6 = true",
            "ipv6 = false",
            "traffic[0].ip: this is an IPv6 flow, but the nodes have no IPv6 addresses; add nodes.ipv6 = true",
        ),
        (
            "ipv6 = true",
            "ipv6 = \"fd00::/120\"",
            "nodes.ipv6: \"fd00::/120\" is not a valid prefix for node addresses",
        ),
        ("ipv6 = true", "ipv6 = \"10.0.0.0/8\"", "nodes.ipv6: \"10.0.0.0/8\" is not a valid prefix"),
        ("ipv6 = true", "ipv6 = \"ff02::/16\"", "nodes.ipv6: \"ff02::/16\" is not a valid prefix"),
        (
            "ipv6 = true",
            "ipv6 = true, node = [{ id = 1, address6 = \"fe80::1\" }]",
            "nodes.node[0].address6: fe80::1 cannot be a node's",
        ),
        (
            "ipv6 = true",
            "ipv6 = true, node = [{ id = 1, address6 = \"::ffff:10.0.0.1\" }]",
            "nodes.node[0].address6: ::ffff:10.0.0.1 cannot be a node's",
        ),
        (
            "ipv6 = true",
            "ipv6 = true, node = [{ id = 1, address6 = \"fd00:77::1\" }]",
            "nodes 0 and 1 both have the address fd00:77::1",
        ),
        ("via = 1", "via = 0", "routes[0].via: this is the node itself"),
        ("destination = 2", "destination = 0", "routes[0].destination: this is the node itself"),
        ("destination = 2", "destination = \"fd00::/129\"", "there is no node named \"fd00::/129\""),
        (
            "destination = 2",
            "destination = \"10.0.0.9\"",
            "routes[0].ip: the destination already determines the IP version",
        ),
        (
            "via = 1, ip = 6 }]",
            "via = 1, ip = 6 }, { node = 0, destination = 2, via = 1, ip = 6 }]",
            "routes[1].destination: node 0 already has a static route to fd00:77::3",
        ),
        (
            "\"ping\", src = 0, dst = 2",
            "\"cbr\", src = 0, dst = \"all\"",
            "traffic[0].dst: IPv6 flows to all nodes are not supported",
        ),
    ];
    for (old, new, expected) in cases {
        assert!(GOOD.contains(old), "{old}");
        let said = message(&GOOD.replacen(old, new, 1));
        assert!(said.contains(expected), "{new}: {said}");
    }
    let on = |name: &str| GOOD.replace("via = 1", &format!("via = 1, interface = \"{name}\""));
    assert_eq!(resolved(&on("radio")).routes[0].1.iface, IfaceId(0));
    assert!(message(&on("wire")).contains("routes[0].interface: there is no interface named \"wire\""));
    let four = GOOD.replace("\"none\"", "\"dsr\"").replace("via = 1, ip = 6", "via = 1");
    assert!(
        message(&four).contains("routes[0].destination: protocol \"dsr\" handles every IPv4 packet itself")
    );
    let none = GOOD.replace("ipv6 = true", "node = [{ id = 1, address6 = \"fd00::1\" }]");
    assert!(message(&none).contains("add nodes.ipv6 = true"));
}
