//! The cost of recording for the run's own thread, and the capacity of the writer. Prints
//! nanoseconds per event; `cargo bench -p wayhop-trace`.
#![allow(clippy::disallowed_methods, reason = "a bench measures time")]

use std::net::Ipv4Addr;
use std::time::Instant;

use wayhop_core::{FlowTag, NodeId, PacketId, Time};
use wayhop_protocols::CLASSIFIER;
use wayhop_trace::{
    Direction, FrameEvent, HopEvent, HopKind, Manifest, Messages, NodeInfo, Outputs, PacketClass, Recorder,
    RunDir, RunStatus, Summary,
};

const EVENTS: u64 = 4_000_000;

fn main() {
    let dir = std::env::temp_dir().join(format!("wayhop-bench-{}", std::process::id()));
    let ns2_trace = Some(dir.join("trace.tr"));
    let none = Outputs { tables: false, ..Outputs::default() };
    hops("hash only", Recorder::hash_only());
    hops("tables", start(&dir, &Outputs { tables: true, ..none.clone() }));
    hops("ns-2 trace", start(&dir, &Outputs { ns2_trace, ..none.clone() }));
    frames("captures", start(&dir, &Outputs { captures: Some(200), ..none }));
    std::fs::remove_dir_all(&dir).expect("the bench's own directory");
}

fn start(dir: &std::path::Path, outputs: &Outputs) -> Recorder {
    let nodes = (0..50).map(|n| NodeInfo::with_radio(n.to_string(), NodeId(n).default_addr())).collect();
    let run = RunDir::create(dir, &Manifest::new("", 1, vec![], 0), CLASSIFIER).expect("a run directory");
    Recorder::start(run, outputs, nodes).expect("a recorder")
}

fn hops(what: &str, mut r: Recorder) {
    let begin = Instant::now();
    for i in 0..EVENTS {
        let n = (i % 50) as u32;
        r.hop(&HopEvent {
            iface: wayhop_core::IfaceId::ANY,
            time: Time::from_nanos(i * 10_000),
            packet: PacketId(i / 8),
            flow: Some(FlowTag { flow: n % 20, seq: (i / 400) as u32 }),
            node: NodeId(n),
            bytes: 92,
            source: Ipv4Addr::new(10, 0, 0, (n + 1) as u8).into(),
            destination: Ipv4Addr::new(10, 0, 0, 9).into(),
            peer: Ipv4Addr::new(10, 0, 0, (n % 7) as u8).into(),
            signal_dbm: -60.0 - n as f32,
            kind: HopKind::ALL[(i % 6) as usize],
            class: PacketClass::Cbr,
            messages: Messages::NONE,
            ttl: 60,
            reason: None,
        });
    }
    report(what, begin, r);
}

fn frames(what: &str, mut r: Recorder) {
    let begin = Instant::now();
    for i in 0..EVENTS {
        r.frame(&FrameEvent {
            iface: wayhop_core::IfaceId(0),
            time: Time::from_nanos(i * 10_000),
            node: NodeId((i % 50) as u32),
            direction: Direction::Rx,
            bytes: &[0x55; 140],
            original_len: 140,
            signal_dbm: -70.0,
            noise_dbm: -100.0,
            rate_100kbps: 20,
            channel_mhz: 914,
            retries: 0,
            bad_fcs: false,
            comment: "",
        });
    }
    report(what, begin, r);
}

fn report(what: &str, begin: Instant, r: Recorder) {
    let ns = |t: Instant| t.elapsed().as_nanos() as f64 / EVENTS as f64;
    let recorded = ns(begin);
    let hash = r.hash().hex();
    r.finish(&mut Summary::default(), RunStatus::Complete).expect("room for the bench");
    println!("{what:<12} {recorded:6.1} ns per event, {:6.1} with the end of the writer  {hash}", ns(begin));
}
