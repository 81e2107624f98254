//! Route Discovery: RFC 4728 sections 8.2.1 to 8.2.4.

mod common;

use common::{at, net};
use wayhop_dsr::Params;

#[test]
fn a_chain_of_five_discovers_a_route_and_delivers() {
    for profile in ["rfc", "ns2", "cmu"] {
        let mut net = net(5, &Params::profile(profile).unwrap());
        net.line();
        net.send_at(at(1.0), 0, 4, 7);
        net.send_at(at(2.0), 0, 4, 7);
        net.run_until(at(5.0));
        assert_eq!(net.delivered(7), [0, 1], "{profile}");
        assert_eq!(net.drops(), [], "{profile}");
        net.assert_conserved();
    }
}
