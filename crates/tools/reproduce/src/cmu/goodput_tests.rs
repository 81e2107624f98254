//! Section 9's rows from transfers of known goodput, and section 2's from known links.

use std::net::Ipv4Addr;

use wayhop_core::{NodeId, Time};
use wayhop_report::Section;
use wayhop_topology::{Contact, LinkSurvey, NodeLinks};

use super::goodput;
use super::topology::{self, Changes};
use super::transfer::{Case, Connection};
use crate::testing::find;

fn transfers(mbps: &[f64]) -> Vec<Connection> {
    let one = |mbps: &f64| {
        let mut c = Connection::new(NodeId(0), Ipv4Addr::new(10, 0, 0, 2));
        c.mbps = *mbps;
        c
    };
    mbps.iter().map(one).collect()
}

#[test]
fn the_five_standard_deviations_stand_beside_ours_over_seeds() {
    let lab = transfers(&[0.7, 0.8, 0.9]);
    let rows = goodput::rows(&|case| if case == (Case::Lab { hops: 1 }) { &lab } else { &[] });
    let printed: Vec<f64> =
        rows.iter().filter(|r| r.quantity == "goodput_sd_mbps").filter_map(|r| r.paper).collect();
    assert_eq!(printed, [0.018, 0.022, 0.157, 0.079, 0.025]);
    let sd = find(&rows, "one hop lab, 1 MB", "goodput_sd_mbps");
    assert!((sd.ours.unwrap() - 0.1).abs() < 1e-9 && sd.seeds == 3, "{sd:?}");
    // 2 degrees of freedom: 0.1 * sqrt(2 / 7.3778) to 0.1 * sqrt(2 / 0.050636).
    let [low, high] = sd.ci95.unwrap();
    assert!((low - 0.052_066).abs() < 1e-5 && (high - 0.628_47).abs() < 1e-3, "{low} {high}");
    // One seed, or none, has no standard deviation.
    let one = transfers(&[0.7]);
    let rows = goodput::rows(&|_| &one);
    assert!(rows.iter().filter(|r| r.quantity == "goodput_sd_mbps").all(|r| r.ours.is_none()));
}

#[test]
fn what_no_run_can_give_says_why_and_outdoors_is_a_share_of_the_laboratory() {
    let (lab, field) = (transfers(&[0.5, 0.4]), transfers(&[0.25, 0.1]));
    let rows = goodput::rows(&|case| match case {
        Case::Lab { hops: 2 } => &lab,
        Case::Field { way: 0 } => &field,
        _ => &[],
    });
    let share = find(&rows, "two hops", "outdoors_of_the_laboratory_pct");
    assert_eq!((share.paper, share.ours), (Some(25.0), Some(37.5)));
    let capture = find(&rows, "tcpdump keeps whole packets", "goodput_mbps");
    assert!(capture.paper == Some(0.3) && capture.ours.is_none() && !capture.note.is_empty());
    assert!(rows.iter().filter(|r| r.paper.is_some()).all(|r| !r.note.is_empty()));
}

#[test]
fn topology_changes_count_over_all_links_and_an_ends_longest_rest_over_its_own() {
    let s = |s: u64| Some(Time::from_nanos(s * 1_000_000_000));
    // Nodes 0 and 1 are cars, 2 and 3 the ends. Five changes in 100 s.
    let links = LinkSurvey {
        until: s(100).unwrap(),
        contacts: vec![
            Contact { a: 0, b: 1, up: None, down: None },
            Contact { a: 0, b: 2, up: s(10), down: s(40) },
            Contact { a: 0, b: 3, up: s(60), down: s(90) },
            Contact { a: 1, b: 2, up: s(50), down: None },
            Contact { a: 1, b: 3, up: None, down: None },
        ],
        nodes: vec![NodeLinks::default(); 4],
    };
    let c = Changes::of(&links, [NodeId(2), NodeId(3)]);
    // Node 1 and node 3 stay linked all the time; two cars do not count.
    assert_eq!(c, Changes { mean_s: Some(20.0), longest_s: Some(100.0) });
    let without = LinkSurvey { contacts: links.contacts[..4].to_vec(), ..links.clone() };
    assert_eq!(Changes::of(&without, [NodeId(2), NodeId(3)]).longest_s, Some(100.0), "never linked");
    let still = LinkSurvey { contacts: vec![], ..links };
    assert_eq!(Changes::of(&still, [NodeId(2), NodeId(3)]).mean_s, None);
    let section: Section = topology::section(&[c]);
    assert_eq!(section.rows.iter().map(|r| r.paper).collect::<Vec<_>>(), [Some(4.0), Some(220.0)]);
    assert_eq!(section.rows[0].ours, Some(20.0));
}
