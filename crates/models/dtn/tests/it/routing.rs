//! Routing: which nodes get copies.

use wayhop_core::{Span, Time};
use wayhop_dtn::routing::{Prophet, ProphetParameters, Routing, SprayAndWait};

use crate::common::{Layer, Net, eid};

/// What a neighbour tells has 16 bits.
fn near(a: f64, b: f64) {
    assert!((a - b).abs() <= 1.0 / 65_535.0, "{a} is not {b}");
}

/// The equations of RFC 6693, section 2.1.2, with the parameters of its section 3.3, by hand.
#[test]
fn predictabilities_follow_the_equations_of_the_rfc() {
    let at = |s: u64| Time::from_nanos(s * 1_000_000_000);
    let (mut a, mut b) =
        (Prophet::new(ProphetParameters::default()), Prophet::new(ProphetParameters::default()));
    // First encounters: P_encounter_first.
    b.contact_up(at(0), &eid(2));
    near(b.predictability(&eid(2)), 0.5);
    a.contact_up(at(0), &eid(1));
    near(a.predictability(&eid(1)), 0.5);
    // Transitivity: max(P_old, P(A,B) * P(B,C) * beta).
    let told = b.message(at(0));
    a.hear(at(0), &eid(1), &told).unwrap();
    near(a.predictability(&eid(2)), 0.5 * 0.5 * 0.9);
    // It is a maximum: heard again it changes nothing.
    a.hear(at(0), &eid(1), &told).unwrap();
    near(a.predictability(&eid(2)), 0.225);
    // Ageing by gamma a second, then an encounter after more than the typical interval: P + (1 - delta - P) * P_encounter_max.
    a.contact_up(at(100), &eid(1));
    let aged = 0.5 * libm::pow(0.999, 100.0);
    near(a.predictability(&eid(1)), aged + (0.99 - aged) * 0.7);
    near(a.predictability(&eid(2)), 0.225 * libm::pow(0.999, 100.0));
}

/// L copies of a bundle; each encounter takes half, and the last one waits for the destination
/// (Spyropoulos and others, 2005).
#[test]
fn spray_and_wait_gives_away_half_and_waits_with_the_last_copy() {
    let mut net = Net::new(6, Layer::Tcpcl, Box::new(|_| Box::new(SprayAndWait::new(4))), &|c| c);
    net.send(0, 5, vec![1; 100], false);
    for other in 1..5 {
        net.link(0, other);
        net.settle(3, 1 << 20);
        net.cut(0, other);
    }
    // 4 copies: 2 to the first, 1 to the second, and the source waits with the last.
    let holds: Vec<usize> = (0..6).map(|n| net.agent(n).held().len()).collect();
    assert_eq!(holds, [1, 1, 1, 0, 0, 0]);
    net.link(1, 3);
    net.settle(3, 1 << 20);
    assert_eq!(net.agent(3).held().len(), 1, "the first gives one of its two away");
    net.link(2, 4);
    net.settle(3, 1 << 20);
    assert_eq!(net.agent(4).held().len(), 0, "the second has a last copy");
    net.link(3, 5);
    net.settle(3, 1 << 20);
    assert_eq!(net.inbox(5).len(), 1);
}

#[test]
fn prophet_gives_a_copy_to_who_meets_the_destination_and_to_nobody_else() {
    let routing = |_| -> Box<dyn Routing> { Box::new(Prophet::new(ProphetParameters::default())) };
    let mut net = Net::new(4, Layer::Tcpcl, Box::new(routing), &|c| c);
    net.link(1, 3);
    net.settle(3, 1 << 20);
    net.cut(1, 3);
    net.send(0, 3, vec![1; 100], false);
    for other in [2, 1] {
        net.link(0, other);
        net.settle(3, 1 << 20);
        net.cut(0, other);
    }
    assert_eq!((net.agent(2).held().len(), net.agent(1).held().len()), (0, 1));
    net.pass(Span::from_secs(60));
    net.link(1, 3);
    net.settle(3, 1 << 20);
    assert_eq!(net.inbox(3).len(), 1);
}
