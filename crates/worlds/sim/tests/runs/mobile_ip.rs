//! The roving node of Maltz, Broch and Johnson (1999, section 4.2) in simulation: at home, under way, in the mesh two relays from the
//! gateway, and at home again.

use std::fs::File;
use std::ops::ControlFlow;

use wayhop_core::{Addr, NodeId, Time};
use wayhop_scenario::Resolved;
use wayhop_sim::Simulation;
use wayhop_testkit::{pcap, tshark};
use wayhop_trace::{
    ApplicationSummary, FrameEvent, HopEvent, HopKind, NoteEvent, Observer, Recorder, Summary,
};

use crate::scenario;

const STORY: &str = include_str!("../../../../../scenarios/roving.toml");
/// How long after its arrival the roving node is attached in the mesh at the latest. It asks each 4 s. DSR
/// carries the question. AODV has not found the gateway, and waits 2.8 s for the first answer and 5.6 s for
/// the next (RFC 3561, section 6.3). In DSDV it hears of the gateway by an update, each 15 s.
const PROTOCOLS: [(&str, f64); 3] = [("dsr", 5.0), ("aodv", 4.0 + 2.8 + 5.6), ("dsdv", 4.0 + 15.0)];
const GATEWAY: u32 = 0;
const T1: u32 = 1;
const RN: u32 = 3;
const HA: u32 = 4;
const PEER: u32 = 5;

/// Seconds at which the roving node leaves the office, is in range of `t2` (250 m), is out of it again, and is back.
const LEAVES: f64 = 60.0;
const ARRIVES: f64 = 87.5;
const DEPARTS: f64 = 182.5;
const RETURNS: f64 = 210.0;

/// What happened, in seconds.
#[derive(Default)]
struct Diary {
    /// When which flow's packets were delivered, and where.
    delivered: Vec<(f64, u32, NodeId)>,
    notes: Vec<(f64, NodeId, &'static str, Addr, u64)>,
    /// IP packets on the wires of the home agent.
    at_home_agent: Vec<(Time, Vec<u8>)>,
}

impl Observer for Diary {
    fn wants_frames(&self) -> bool {
        true
    }
    fn hop(&mut self, e: &HopEvent) {
        if let (HopKind::Deliver, Some(tag)) = (e.kind, e.flow) {
            self.delivered.push((e.time.as_secs_f64(), tag.flow, e.node));
        }
    }
    fn note(&mut self, e: &NoteEvent) {
        self.notes.push((e.time.as_secs_f64(), e.node, e.note.what, e.note.about, e.note.value));
    }
    fn frame(&mut self, f: &FrameEvent<'_>) {
        if f.node == NodeId(HA) && f.bytes[12..14] == [8, 0] {
            self.at_home_agent.push((f.time, f.bytes[14..].to_vec()));
        }
    }
}

impl Diary {
    /// When a node noted something, seconds.
    fn noted(&self, node: u32, what: &str) -> Vec<f64> {
        self.notes.iter().filter(|n| n.1 == NodeId(node) && n.2 == what).map(|n| n.0).collect()
    }
    /// The longest time between two consecutive answers to a ping of `node`, one before `moment`
    /// and one after it.
    fn outage(&self, flow: u32, node: u32, moment: f64) -> f64 {
        let of = |d: &&(f64, u32, NodeId)| d.1 == flow && d.2 == NodeId(node);
        let answers = || self.delivered.iter().filter(of).map(|d| d.0);
        let last = answers().filter(|t| *t <= moment).fold(0.0, f64::max);
        answers().filter(|t| *t > moment).fold(f64::INFINITY, f64::min) - last
    }
    /// How many answers to a ping of `node` came in this time.
    fn answers(&self, flow: u32, node: u32, from: f64, until: f64) -> usize {
        let in_time =
            |d: &&(f64, u32, NodeId)| d.1 == flow && d.2 == NodeId(node) && (from..until).contains(&d.0);
        self.delivered.iter().filter(in_time).count()
    }
}

fn story(text: &str) -> (Resolved, Summary, Diary) {
    let scenario = scenario(text);
    let recorder = Recorder::hash_only().observed_by(Box::<Diary>::default());
    let mut simulation = Simulation::new(&scenario, recorder).expect("a scenario");
    assert!(simulation.run(|_| ControlFlow::Continue(())));
    let (summary, audit, mut recorder) = simulation.finish(&scenario, 0.0);
    assert_eq!(audit.defect(), None);
    (scenario, summary, recorder.take_observer().expect("it was given"))
}

fn with(protocol: &str) -> String {
    STORY.replace("name = \"dsr\"", &format!("name = \"{protocol}\""))
}

fn figure(s: &Summary, application: &str, name: &str) -> f64 {
    let of: &ApplicationSummary = s.applications.iter().find(|a| a.application == application).unwrap();
    of.figures[name]
}

#[test]
fn the_roving_node_is_reached_at_home_in_the_mesh_and_at_home_again() {
    for (protocol, search_s) in PROTOCOLS {
        let (_, s, diary) = story(&with(protocol));
        // Five pings a second, from the office and from the mesh.
        for (flow, pinger) in [(0, PEER), (1, T1)] {
            for (from, until) in [(12.0, LEAVES), (100.0, 180.0), (RETURNS + 1.0, 239.0)] {
                let answers = diary.answers(flow, pinger, from, until);
                let asked = (until - from) * 5.0;
                assert!(
                    answers as f64 > 0.98 * asked - 1.0,
                    "{protocol}, {flow}, from {from} s: {answers} of {asked}"
                );
            }
            // Nobody hears it under way; then the mobile node and its routing protocol search.
            let away = diary.outage(flow, pinger, LEAVES + 0.5);
            assert!(
                (ARRIVES - LEAVES - 0.5..ARRIVES - LEAVES + search_s + 0.5).contains(&away),
                "{protocol}, {flow}: {away} s"
            );
            // At home its interface comes up, and it asks at once: what is lost is what was lost under way, and a ping.
            let back = diary.outage(flow, pinger, RETURNS - 1.0);
            assert!(
                (RETURNS - DEPARTS - 1.0..RETURNS - DEPARTS + 5.0).contains(&back),
                "{protocol}, {flow}: {back} s"
            );
        }
        let at_home = diary.noted(RN, "mip_at_home");
        let [first, last] = at_home[..] else { panic!("{protocol}: {at_home:?}") };
        assert!(first < 1.0 && (RETURNS..RETURNS + 0.5).contains(&last), "{protocol}: {at_home:?}");
        let in_mesh = diary.noted(RN, "mip_by_foreign_agent");
        assert!(
            in_mesh.len() == 1 && (ARRIVES..ARRIVES + search_s).contains(&in_mesh[0]),
            "{protocol}: {in_mesh:?}"
        );
        assert!(!diary.noted(GATEWAY, "mip_visits").is_empty() && !diary.noted(HA, "mip_bound").is_empty());
        // At home and back, and by the foreign agent: each was granted, and what was tunnelled came out again but for what was lost.
        assert_eq!(figure(&s, "mobile-node", "registrations"), 3.0, "{protocol}");
        assert_eq!(
            figure(&s, "mobile-node", "denied") + figure(&s, "home-agent", "refused"),
            0.0,
            "{protocol}"
        );
        let [into, out] = [
            figure(&s, "home-agent", "packets_tunnelled"),
            figure(&s, "foreign-agent", "packets_untunnelled"),
        ];
        assert!(into >= out && out > 0.99 * into && into > 800.0, "{protocol}: {into} {out}");
    }
}

#[test]
fn tshark_reads_the_registrations_and_the_tunnels_of_the_story() {
    let (_, _, diary) = story(&with("dsr"));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ha.pcap");
    let packets = diary.at_home_agent.iter().map(|(at, octets)| (*at, &octets[..]));
    pcap::write(File::create(&path).unwrap(), packets).unwrap();
    assert_eq!(tshark::complaints(&path).unwrap(), Vec::<Vec<String>>::new());
    let fields =
        ["ip.src", "ip.dst", "mip.homeaddr", "mip.haaddr", "mip.coa", "mip.life", "mip.t", "mip.auth.spi"];
    let requests = tshark::fields(&path, "mip.type == 1", &fields).unwrap();
    let home = ["10.1.0.9", "10.1.0.1", "10.1.0.9", "10.1.0.1", "10.1.0.9", "0", "0", "0x00000100"];
    // By the foreign agent for 300 s, with a reverse tunnel (RFC 3024).
    let foreign = ["10.0.0.1", "10.1.0.1", "10.1.0.9", "10.1.0.1", "10.0.0.1", "300", "1", "0x00000100"];
    assert_eq!(requests, [home, foreign, home]);
    let replies = tshark::fields(&path, "mip.type == 3", &["ip.dst", "mip.code", "mip.life"]).unwrap();
    assert_eq!(replies, [["10.1.0.9", "0", "0"], ["10.0.0.1", "0", "300"], ["10.1.0.9", "0", "0"]]);
    // Outer and inner addresses, both ways (RFC 2003 and RFC 3024).
    let tunnelled = tshark::fields(&path, "ip.proto == 4", &["ip.src", "ip.dst"]).unwrap();
    for ends in [["10.1.0.1,10.1.0.2", "10.0.0.1,10.1.0.9"], ["10.0.0.1,10.1.0.9", "10.1.0.1,10.1.0.2"]] {
        assert!(tunnelled.iter().filter(|t| **t == ends).count() > 400, "{ends:?}");
    }
}

#[test]
fn a_home_agent_that_loses_its_memory_goes_on_with_its_bindings() {
    let outage = "[[outages]]\nnode = \"ha\"\nstart_s = 120\nlength_s = 2\ntables = \"lost\"\n";
    let (_, _, diary) = story(&(with("dsr") + outage));
    assert_eq!(diary.noted(HA, "mip_resumed").len(), 1);
    let answers = diary.answers(0, PEER, 125.0, 180.0);
    assert!(answers > 265, "{answers} of 275");
    // Nobody registered again for it.
    assert_eq!(diary.noted(HA, "mip_bound").len(), 1);
}

#[test]
fn programs_of_the_roving_node_have_its_home_address_wherever_it_is() {
    let request = "[[applications]]\nname = \"request\"\nnodes = [\"rn\"]\n\
                   [[applications]]\nname = \"request\"\nnodes = [\"peer\"]\nserver = \"10.1.0.9\"\nthink_s = 1\n\
                   [[applications]]\nname = \"request\"\nnodes = [\"rn\"]\nserver = \"peer\"\nport = 7072\nclient_port = 7073\n\
                   [[applications]]\nname = \"request\"\nnodes = [\"peer\"]\nport = 7072\n";
    let (_, s, _) = story(&(with("dsr") + request));
    for client in [4, 5] {
        let of = &s.applications[client].figures;
        let (asked, answered) = (of["requests"], of["answered"]);
        // 185 of 240 s, a second or so for each request; under way each that fails takes six.
        assert!(answered > 120.0 && answered > 0.9 * (asked - 12.0), "{of:?}");
    }
    let to_home = s.flows.iter().find(|f| f.kind == "udp" && f.src == PEER && f.dst == RN).unwrap();
    assert!(to_home.received.unwrap() > 120);
}
