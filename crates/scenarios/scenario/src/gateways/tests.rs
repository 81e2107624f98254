use super::*;
use crate::Scenario;

/// Two nodes with radios, and one at the end of a wire.
const MESH: &str = "nodes.count = 3\nmovement = { kind = \"chain\", spacing_m = 200 }\nradio.nodes = [0, 1]\n\
                    protocol.name = \"dsr\"\nwires = [{ name = \"uplink\", nodes = [1, 2] }]\n";

fn edge(text: &str) -> Result<Option<EdgePlan>> {
    Ok(Scenario::from_text(text, &[])?.resolve()?.edge)
}

fn problem(text: &str) -> String {
    edge(text).expect_err("this is wrong").to_string()
}

#[test]
fn a_node_behind_an_uplink_is_outside_and_the_gateway_leads_there() {
    let plan = edge(&format!("{MESH}gateways = [{{ node = 1 }}]")).unwrap().unwrap();
    let host = Ipv4Addr::new(198, 51, 100, 1);
    let gateway = Ipv4Addr::new(10, 0, 0, 2);
    let all = Prefix::around(Addr::UNSPECIFIED, 0);
    assert_eq!(plan.mesh, Prefix::around(Ipv4Addr::new(10, 0, 0, 0), 24));
    let to_gateway = Route::to_host(gateway, gateway, 1).on(IfaceId(0));
    let routes = vec![to_gateway];
    assert_eq!(plan.outside, [OutsidePlan { node: NodeId(2), routes, gateway: Some(to_gateway) }]);
    let (outside, routes) = plan.of(NodeId(1)).unwrap();
    assert_eq!(outside, Outside { mesh: plan.mesh, reaches: vec![all] });
    let by_host = |destination| Route { destination, next_hop: host.into(), iface: IfaceId(1), metric: 1 };
    assert_eq!(routes, [by_host(Prefix::host(host)), by_host(all)]);
    assert_eq!(plan.of(NodeId(0)), Some((Outside { mesh: plan.mesh, reaches: vec![] }, vec![])));
    assert_eq!(plan.of(NodeId(2)), None);
}

#[test]
fn without_gateways_a_wire_is_part_of_the_mesh() {
    assert_eq!(edge(MESH), Ok(None));
}

#[test]
fn what_no_gateway_can_be_is_refused_by_key_with_a_remedy() {
    let own_address = |node: u8, address: &str| {
        format!("{{ node = 1 }}]\nnodes.node = [{{ id = {node}, address = \"{address}\" }}")
    };
    for (list, key, words) in [
        ("{ node = 0 }", "gateways[0].uplink", "has no wire"),
        ("{ node = 1, uplink = \"uplnk\" }", "gateways[0].uplink", "did you mean \"uplink\"?"),
        ("{ node = 1 }, { node = 1 }", "gateways[1].node", "already a gateway"),
        ("{ node = 1, reaches = [] }", "gateways[0].reaches", "the list is empty"),
        ("{ node = 1, reaches = [\"fd00::/64\"] }", "gateways[0].reaches[0]", "not a prefix"),
        ("{ node = 1, reaches = [\"10.0.0.0/33\"] }", "gateways[0].reaches[0]", "not a prefix"),
        ("{ node = 1 }, { node = 2 }", "gateways[1].node", "not in the mesh"),
        (&own_address(2, "10.0.0.77"), "nodes.node", "in the mesh's prefix 10.0.0.0/24"),
        (&own_address(0, "198.51.100.1"), "gateways", "another node's address"),
    ] {
        let said = problem(&format!("{MESH}gateways = [{list}]"));
        assert!(said.contains(key) && said.contains(words), "{list}: {said}");
    }
}

#[test]
fn a_wire_that_leads_out_has_gateways_and_nodes_outside_only() {
    let all = MESH.replace("radio.nodes = [0, 1]\n", "");
    let three = MESH.replace("[1, 2]", "[0, 1, 2]");
    for (mesh, words) in
        [(all, "no node outside the mesh is attached"), (three.clone(), "node 0 is in the mesh")]
    {
        let said = problem(&format!("{mesh}gateways = [{{ node = 1 }}]"));
        assert!(said.contains("wires[0].nodes") && said.contains(words), "{said}");
    }
    edge(&format!("{three}gateways = [{{ node = 0 }}, {{ node = 1 }}]")).unwrap();
}

/// Gateway 1, router 2, and host 3 behind it on a network that node 0 of the mesh is at, too.
const OFFICE: &str = "nodes.count = 4\nmovement = { kind = \"chain\", spacing_m = 200 }\nradio.nodes = [0, 1]\n\
                      protocol.name = \"dsr\"\ngateways = [{ node = 1 }]\nnodes.node = [{ id = 2, address = \"10.1.0.1\" }]\n\
                      wires = [{ nodes = [1, 2] }, { nodes = [0, 2, 3], network = \"10.1.0.0/24\" }]\n";

#[test]
fn nodes_outside_reach_networks_and_the_gateway_by_routers() {
    let plan = edge(OFFICE).unwrap().unwrap();
    let [router, host] = [Ipv4Addr::new(10, 1, 0, 1), Ipv4Addr::new(198, 51, 100, 1)];
    let gateway = Ipv4Addr::new(10, 0, 0, 2);
    let office = Prefix::around(router, 24);
    let by =
        |destination, next_hop, iface, metric| Route { destination, next_hop, iface: IfaceId(iface), metric };
    // On the network every address is a neighbour; behind the router is the gateway.
    let neighbours = by(office, Addr::UNSPECIFIED, 0, 1);
    let to_gateway = by(Prefix::host(gateway), router.into(), 0, 2);
    let of_host = vec![neighbours, by(Prefix::host(router), router.into(), 0, 1), to_gateway];
    assert_eq!(plan.outside[1], OutsidePlan { node: NodeId(3), routes: of_host, gateway: Some(to_gateway) });
    let of_router = [
        by(Prefix::host(gateway), gateway.into(), 0, 1),
        by(office, Addr::UNSPECIFIED, 1, 1),
        by(Prefix::host(host), host.into(), 1, 1),
    ];
    assert_eq!(plan.outside[0].routes, of_router);
}

#[test]
fn what_no_network_can_be_is_refused_by_key_with_a_remedy() {
    let absent = |at: &str, node: u8, start_s: i8| {
        (at.to_owned(), format!("{at}, absences = [{{ node = {node}, start_s = {start_s} }}]"))
    };
    let no_network = ("10.1.0.0/24".to_owned(), "10.1.0.0/31".to_owned());
    let no_gateway = ("gateways = [{ node = 1 }]".to_owned(), String::new());
    for ((from, to), words) in [
        (no_network, "wires[1].network: \"10.1.0.0/31\" is not a network; give"),
        (no_gateway, "wires[1].network: a network outside of the mesh, and no gateway; add"),
        (absent("nodes = [1, 2]", 1, 1), "wires[0].absences: this wire is not a network"),
        (absent("/24\"", 1, 1), "absences[0].node: node 1 is not at this wire; name"),
        (absent("/24\"", 0, -1), "absences[0].start_s: -1 is not a number"),
    ] {
        let error = problem(&OFFICE.replace(&from, &to));
        assert!(error.contains(words), "{error}");
    }
}
