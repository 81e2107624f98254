//! Sequences of frames, timers, links and orders, read from random bytes; the fuzz target `aodv_engine` runs the same.

#[path = "../exercise/mod.rs"]
mod exercise;

use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_comes_no_node_has_a_route_to_itself_or_of_no_hops_or_loses_a_packet(
        bytes in proptest::collection::vec(any::<u8>(), 0..600),
    ) {
        exercise::engine(&bytes);
    }
}
