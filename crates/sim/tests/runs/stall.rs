//! Interface queues that are not served for a while.

use crate::{run, scenario};

fn ping(stall: &str) -> String {
    format!(
        r#"
duration_s = 20
nodes.count = 2
movement = {{ kind = "chain", spacing_m = 100 }}
[[traffic]]
kind = "cbr"
src = 0
dst = 1
rate_pps = 10
stop_s = 15
{stall}
"#
    )
}

#[test]
fn packets_wait_for_a_stalled_driver_and_leave_when_it_goes_on() {
    let (free, _) = run(&scenario(&ping("")));
    let (s, audit) = run(&scenario(&ping("[[stalls]]\nnode = 0\nstart_s = 2\nlength_s = 3\nevery_s = 13")));
    assert_eq!(audit.defect(), None);
    assert_eq!((s.totals.sent, s.totals.received), (150, 150));
    assert!(free.totals.latency_ms.expect("arrivals").max < 100.0, "{:?}", free.totals.latency_ms);
    // The first packet of the stall waits for all of it.
    assert!(
        (2_900.0..3_100.0).contains(&s.totals.latency_ms.expect("arrivals").max),
        "{:?}",
        s.totals.latency_ms
    );
}
