use proptest::prelude::*;

use super::*;
use crate::file::Scenario;

const CHAIN: &str = "duration_s = 1000\nnodes.count = 4\nmovement = { kind = \"chain\", spacing_m = 200 }\n\
                     [[nodes.node]]\nid = 3\nname = \"gate\"\n";

fn resolved(outages: &str) -> Result<crate::Resolved> {
    Scenario::from_text(&format!("{CHAIN}{outages}"), &[])?.resolve()
}

fn refused(outage: &str, message: &str) {
    let e = resolved(&format!("[[outages]]\n{outage}")).map(|_| ()).unwrap_err().to_string();
    assert!(e.contains(message), "{outage}\n{e}");
}

fn times(outages: &str) -> Vec<(u32, f64, f64)> {
    let all = resolved(outages).unwrap_or_else(|e| panic!("{e}")).outages;
    all.iter().map(|o| (o.node.0, o.from.as_secs_f64(), o.until.as_secs_f64())).collect()
}

#[test]
fn outages_come_once_or_again_and_again_until_the_end() {
    let never = Time::NEVER.as_secs_f64();
    assert_eq!(times("[[outages]]\nnode = \"gate\"\nstart_s = 10"), [(3, 10.0, never)]);
    let two = "[[outages]]\nnode = 1\nstart_s = 10\nlength_s = 5\nevery_s = 600\n\
               [[outages]]\nnodes = [0, 2]\nstart_s = 20.5\nlength_s = 1";
    assert_eq!(times(two), [(1, 10.0, 15.0), (0, 20.5, 21.5), (2, 20.5, 21.5), (1, 610.0, 615.0)]);
}

#[test]
fn outages_at_random_take_their_share_of_the_time() {
    // Up 40 s and down 10 s on average: 20 outages a node in 1000 s, and a fifth of the time.
    let text = "[[outages]]\nmean_up_s = 40\nmean_down_s = 10";
    let mut down = 0.0;
    let mut count = 0;
    for seed in 1..=100 {
        let s = Scenario::from_text(&format!("seed = {seed}\n{CHAIN}{text}"), &[]).unwrap();
        let r = s.resolve().unwrap();
        assert_eq!(r.outages, s.resolve().unwrap().outages);
        count += r.outages.len();
        down += r.outages.iter().map(|o| o.length_until(r.duration).as_secs_f64()).sum::<f64>();
    }
    // 8,000 outages: the mean of that many is within 3 per cent with near certainty.
    assert!((0.194..0.206).contains(&(down / 400_000.0)), "{down}");
    assert!((7_700..8_300).contains(&count), "{count}");
}

#[test]
fn a_protocol_waits_after_a_reboot_unless_the_scenario_says_how() {
    let wait = |rest: &str| {
        let r = resolved(&format!("[protocol]\n{rest}")).unwrap();
        [&r.protocol, &r.protocol_after_reboot].map(|p| p.values().get("wait_after_reboot").cloned())
    };
    let yes_no = |a: bool, b: bool| [Some(a.into()), Some(b.into())];
    for protocol in ["aodv", "dsdv"] {
        assert_eq!(wait(&format!("name = \"{protocol}\"")), yes_no(false, true));
        for chosen in [false, true] {
            let text = format!("name = \"{protocol}\"\nwait_after_reboot = {chosen}");
            assert_eq!(wait(&text), yes_no(chosen, chosen));
        }
    }
    assert_eq!(wait("name = \"dsr\""), [None, None]);
}

#[test]
fn each_mistake_is_named_with_its_remedy() {
    let fixed = "node = 1\nstart_s = 10\nlength_s = 5";
    for (text, message) in [
        ("start_s = 1", "outages[0]: the node is missing; set node = NUMBER or NAME, or nodes"),
        ("node = 9", "outages[0].node: there is no node 9; the nodes are 0 to 3"),
        ("node = \"gat\"", "outages[0].node: there is no node named \"gat\"; did you mean \"gate\"?"),
        ("nodes = [1, 7]", "outages[0].nodes: there is no node 7"),
        ("node = 1\nnodes = [2]", "outages[0].nodes: node and nodes exclude each other"),
        ("node = 1\nstart_s = -1", "outages[0].start_s: -1 is not a number from 0"),
        ("node = 1\nlength_s = 0", "outages[0].length_s: 0 is not a number from 0.001"),
        (
            "node = 1\nlength_s = 5\nevery_s = 5",
            "every_s: an interval of 5 s is not longer than the outage of 5 s",
        ),
        ("node = 1\nevery_s = 5", "every_s: an outage to the end of the run cannot repeat; set length_s too"),
        ("mean_up_s = 5", "outages[0].mean_up_s: random outages need mean_down_s too; set both means"),
        ("mean_up_s = 5\nmean_down_s = 0", "mean_down_s: 0 is not a number from 0.001"),
        ("mean_up_s = 5\nmean_down_s = 5\nlength_s = 1", "length_s: random outages have no fixed times"),
        ("node = 1\ntables = \"gone\"", "unknown value `gone`"),
        ("node = 1\nlenght_s = 1", "unknown key `lenght_s`"),
        (
            "node = 1\nlength_s = 0.001\nevery_s = 0.0015\n[[outages]]\nnode = 2\nlength_s = 0.001\nevery_s = 0.0015",
            "outages[1]: the run has more than 1000000 outages; use longer outages or a shorter run",
        ),
    ] {
        refused(text, message);
    }
    let overlap = "outages[1]: node 1 already is down at that time in outages[0]; leave time between";
    for (text, message) in [
        ("node = 1\nstart_s = 12\nlength_s = 1", overlap),
        ("node = 1\nstart_s = 15\nlength_s = 1", overlap),
        ("node = 1\nstart_s = 3\nlength_s = 2\nevery_s = 8", overlap),
        ("node = 1\nstart_s = 2", overlap),
        ("nodes = [0, 1]\nmean_up_s = 9\nmean_down_s = 1", "node 1 already has other outages in outages[0]"),
    ] {
        refused(&format!("{fixed}\n[[outages]]\n{text}"), message);
    }
    let random = format!("mean_up_s = 9\nmean_down_s = 1\n[[outages]]\n{fixed}");
    refused(&random, "outages[1]: node 1 already has random outages in outages[0]");
}

#[test]
fn one_that_begins_after_the_end_is_remarked() {
    let r = resolved("[[outages]]\nnode = 1\nstart_s = 1000").unwrap();
    assert_eq!(r.outages, []);
    let warning = "outages[0] begins at 1000 s, after the end of the run (1000 s): it has no effect";
    assert_eq!(r.warnings, [warning]);
}

proptest! {
    #[test]
    fn those_of_one_node_never_touch(
        entries in proptest::collection::vec((0..4_u32, 0..900_u32, 1..50_u32, 0..60_u32), 1..6),
    ) {
        let entry = |(node, start, length, more): &(u32, u32, u32, u32)| {
            let every = if *more > 0 { format!("every_s = {}\n", length + more) } else { String::new() };
            format!("[[outages]]\nnode = {node}\nstart_s = {start}\nlength_s = {length}\n{every}")
        };
        let text = entries.iter().map(entry).collect::<Vec<_>>().concat();
        if let Ok(r) = resolved(&text) {
            for (i, a) in r.outages.iter().enumerate() {
                prop_assert!(a.from < a.until && a.from < r.duration);
                for b in r.outages[i + 1..].iter().filter(|b| b.node == a.node) {
                    prop_assert!(a.until < b.from);
                }
            }
        }
    }
}
