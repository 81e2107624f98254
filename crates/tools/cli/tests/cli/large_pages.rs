//! Simulations of many nodes ask the kernel for large pages.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::{folder, wayhop};

/// Idle nodes: they begin at once, and the run lasts until it is killed.
fn idle(nodes: u32) -> String {
    let rest = "movement = { kind = \"grid\", spacing_m = 1000 }\nprotocol.name = \"aodv\"\n\
                [[traffic]]\nkind = \"cbr\"\nsrc = 0\ndst = 1\nrate_pps = 1000\n";
    format!("duration_s = 1000000\nnodes.count = {nodes}\n{rest}")
}

/// Whether the heap of a process shows the advice, as a flag of proc(5) says, once the run has begun to write.
fn has_large_pages(child: &Child, begun: &Path) -> bool {
    let started = Instant::now();
    while !begun.exists() {
        assert!(started.elapsed() < Duration::from_secs(60), "the run does not begin");
        std::thread::sleep(Duration::from_millis(5));
    }
    let maps = fs::read_to_string(format!("/proc/{}/smaps", child.id())).expect("its memory");
    let heap = maps.lines().skip_while(|line| !line.ends_with("[heap]"));
    // The heap before the advice, and the part with it, follow each other.
    let mut flags = heap.filter(|line| line.starts_with("VmFlags:")).take(2);
    flags.any(|line| line.split(' ').any(|flag| flag == "hg"))
}

#[test]
fn a_run_of_many_nodes_has_its_heap_in_large_pages_and_a_small_one_does_not() {
    if !Path::new("/sys/kernel/mm/transparent_hugepage").exists() {
        // A kernel without them.
        return;
    }
    for (nodes, expected) in [(100, false), (5_000, true)] {
        let dir = folder(&[("run.toml", &idle(nodes))]);
        let mut child = wayhop()
            .args(["run", "run.toml", "--quiet", "--out", "r"])
            .current_dir(dir.path())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program runs");
        let found = has_large_pages(&child, &dir.path().join("r/manifest.json"));
        child.kill().and_then(|()| child.wait()).expect("it ends");
        assert_eq!(found, expected, "{nodes} nodes");
    }
}
