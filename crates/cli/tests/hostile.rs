//! `wayhop node` against those who mean it harm: on the air, and at its control socket.
//!
//! Needs root, network namespaces, and ip, nft, ping and python3 (`.ci/install test`). Without root the tests are skipped
//! with a message; in CI they fail.

mod mesh;

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use mesh::{Mesh, may_run};

/// More memory than a node of these protocols may ever need with full tables, KiB.
const MOST_MEMORY_KIB: u64 = 64 << 10;

fn folder_of(name: &str) -> String {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "..", "..", "captures", name].iter().collect();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_million_wrong_frames_neither_stop_a_mesh_nor_fill_its_memory() {
    if !may_run() {
        return;
    }
    let attack = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/attack.py");
    let captures = [folder_of("rfc4728"), folder_of("rfc3561")];
    for protocol in ["dsr", "aodv"] {
        // Host 3 is the attacker; the link addresses that it uses are heard by all.
        let mut mesh = Mesh::line(4);
        let before: Vec<String> = (0..3).map(|i| mesh.host_state(i)).collect();
        for i in 0..3 {
            let control = format!("control=n{i}");
            let sets = [&control, "protocol.net_diameter=6"];
            mesh.start(i, protocol, &sets[..if protocol == "aodv" { 2 } else { 1 }]);
        }
        mesh.ping(0, 2, 2);
        let _pings = (mesh.start_ping(0, 2), mesh.start_ping(2, 1));
        let command = |seed| ["python3", attack, "eth1", "500000", seed, &captures[0], &captures[1]];
        let t1 = std::time::Instant::now();
        let (ok, said) = mesh.run_args(3, &command("4728"));
        eprintln!("{protocol} attack {:?}", t1.elapsed());
        assert!(ok, "{said}");
        for i in 0..3 {
            assert!(mesh.is_alive(i), "{protocol}: {}", fs::read_to_string(mesh.log(i)).unwrap());
            let (now, most) = mesh.memory_kib(i);
            assert!(most < MOST_MEMORY_KIB, "{protocol}: node {i} took {most} KiB");
            let c = mesh.counters(&format!("n{i}"));
            let count = |name: &str| c[name].as_u64().unwrap();
            eprintln!("{protocol} node {i}: {now} KiB, at most {most}, {c}");
            // What the kernel had no room for never came.
            assert!(
                count("received_frames") + count("strange_frames") + count("overheard_frames") > 50_000,
                "{c}"
            );
        }
        let t0 = std::time::Instant::now();
        mesh.until("the ends reach each other again", Duration::from_secs(60), |m| m.try_ping(0, 2));
        eprintln!("{protocol} recovered {:?}", t0.elapsed());
        for (i, before) in before.iter().enumerate() {
            let log = mesh.stop(i);
            assert!(log.contains("info: ends") && !log.contains("panicked"), "{log}");
            assert_eq!(&mesh.host_state(i), before, "{protocol}: host {i} is as it was");
        }
    }
}
