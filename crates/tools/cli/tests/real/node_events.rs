//! The events that a `wayhop node` sends to subscribers of its control socket.
//!
//! Needs root, network namespaces, and ip, nft and ping (`.ci/install test`). Without root the tests are skipped with a
//! message; in CI they fail.

use std::net::{IpAddr, Ipv4Addr};

use crate::mesh::{Mesh, skip_without_root};
use wayhop_control::{Client, Event, EventKind};

#[test]
fn a_subscriber_hears_the_search_for_a_route_and_the_row_that_it_leads_to() {
    skip_without_root!();
    let far = IpAddr::from([10, 0, 0, 3]);
    for protocol in ["dsr", "aodv"] {
        let mut mesh = Mesh::line(3);
        let name = format!("wht-events-{protocol}-{}", std::process::id());
        mesh.start(0, protocol, &[&format!("control={name}")]);
        mesh.start(1, protocol, &[]);
        mesh.start(2, protocol, &[]);
        let mut client = Client::connect(&mesh.socket(&name)).unwrap();
        client.subscribe(None, vec![EventKind::Note, EventKind::Route]).unwrap();
        mesh.ping(0, 2, 1);
        let mut seen = Vec::new();
        let mut rows = Vec::new();
        while !seen.contains(&"discovery_done".to_owned()) || protocol == "aodv" && !rows.contains(&far) {
            match client.event().unwrap().expect("the node goes on") {
                Event::Note { what, about, .. } if about == far => seen.push(what),
                Event::Route { destination, next_hop, hops, .. } if destination == far => {
                    assert_eq!((next_hop, hops), (Some(Ipv4Addr::new(10, 0, 0, 2).into()), Some(2)));
                    rows.push(destination);
                }
                _ => {}
            }
        }
        assert_eq!(seen[0], "discovery_start", "{seen:?}");
        mesh.stop_all();
    }
}
