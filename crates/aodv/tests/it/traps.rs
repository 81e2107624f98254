//! What other implementations got wrong, and what hostile or careless neighbours send: one test for each.

use wayhop_aodv::Params;
use wayhop_core::Addr;
use wayhop_testkit::addr;
use wayhop_wire::aodv::Message;

use crate::support::{alone, frame, ms, reply, route, said};

#[test]
fn a_hello_to_the_subnets_broadcast_address_is_a_hello() {
    // ns-3 sends there and not to 255.255.255.255 (section 6.9). Taken for a reply to one node it would be passed on to its
    // own sender.
    let mut net = alone(&Params::rfc());
    let hello = Message::Rrep(reply(addr(4), 7, 0, addr(4)));
    net.inject(0, addr(4), true, &frame(addr(4), Addr::new(10, 0, 0, 255), 1, &hello));
    net.run_for(ms(50));
    assert_eq!(net.inspect(0).table("neighbours").count(), 1);
    assert_eq!(route(&net, 0, addr(4), "seq").unwrap(), "7");
    assert!(said(&net, 0).is_empty());
}
