//! Commands to nodes from outside.

use crate::{run, scenario};

fn chain(protocol: &str, orders: &str) -> String {
    let flow = "[[traffic]]\nkind = \"cbr\"\nsrc = 0\ndst = 2\nrate_pps = 10\nstop_s = 15";
    crate::chain(3, 200, protocol, 20.0, &format!("{flow}\n{orders}"))
}

#[test]
fn purged_routes_are_discovered_anew_and_nothing_is_lost() {
    for protocol in ["aodv", "dsr"] {
        let (calm, _) = run(&scenario(&chain(protocol, "")));
        let order = "[[commands]]\nkind = \"purge-routes\"\nstart_s = 2.55\nevery_s = 3";
        let (purged, audit) = run(&scenario(&chain(protocol, order)));
        assert_eq!(audit.defect(), None);
        assert_eq!((purged.totals.sent, purged.totals.received), (150, 150), "{protocol}");
        // Orders at 2.55, 5.55, 8.55, 11.55 and 14.55 s, the last two packets being sent at 14.9 s: five discoveries more.
        let more = purged.totals.routing_packets - calm.totals.routing_packets;
        assert!(more >= 5 * 2, "{protocol}: {more} routing packets more");
        // Only node 0 forgets, and only how to get to node 1, which it does not send to.
        let order = "[[commands]]\nkind = \"purge-routes\"\nstart_s = 2.55\nnodes = [2]\ndestination = 1";
        let (other, _) = run(&scenario(&chain(protocol, order)));
        assert_eq!(other.totals.routing_packets, calm.totals.routing_packets, "{protocol}");
    }
}
