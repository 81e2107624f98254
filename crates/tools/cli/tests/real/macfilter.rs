//! A lab's macfilter at real hosts: who is ignored, and when, whichever node forwards.
//!
//! Needs root, network namespaces, and ip, nft and ping (`.ci/install test`). Without root the tests are skipped with a message; in CI they
//! fail.

use std::fs;
use std::time::Duration;

use crate::mesh::{Mesh, WAYHOP, skip_without_root};

/// How long a busy machine may take for what takes some seconds.
const PATIENCE: Duration = Duration::from_secs(40);

/// The relay of a line ignores the first host for a while, which does not know of it.
fn a_relay_ignores_its_neighbour_for_a_while(protocol: &str) {
    skip_without_root!();
    let mut mesh = Mesh::line(3);
    let file = mesh.folder().join("walk.macfilter");
    fs::write(
        &file,
        "at 0 node 1 ignores nobody\nat 0 node 7 ignores 02:00:0a:00:00:03\n\
         at 12 node 1 ignores 02:00:0a:00:07:01 # a lab's address of the first host\nat 18 node 1 ignores nobody\n",
    )
    .unwrap();
    mesh.start(0, protocol, &[]);
    mesh.start(2, protocol, &[]);
    let macfilter = format!(
        "macfilter={{ file = {:?}, node = 1, link_addresses = {{ \"02:00:0a:00:07:01\" = \"02:00:0a:00:00:01\" }} }}",
        file.display().to_string()
    );
    mesh.start(1, protocol, &[&macfilter]);
    mesh.until("a ping comes back over the relay", PATIENCE, |m| m.try_ping(0, 2));
    mesh.until("the relay ignores the first host", PATIENCE, |m| {
        m.said(1).contains("ignores 02:00:0a:00:00:01")
    });
    // The first host hears the relay and has its route; the relay must not forward.
    let (ok, said) = mesh.run(0, "ping -c 5 -i 0.2 -W 1 10.0.0.3");
    assert!(!ok && said.contains("100% packet loss"), "{said}");
    mesh.until("the relay hears it again", PATIENCE, |m| m.said(1).contains("ignores nobody"));
    mesh.until("a ping comes back again", PATIENCE, |m| m.try_ping(0, 2));
    mesh.stop_all();
}

#[test]
fn with_dsr_the_node_ignores_whom_the_macfilter_says() {
    a_relay_ignores_its_neighbour_for_a_while("dsr");
}

#[test]
fn with_aodv_the_kernel_that_forwards_does_so_too() {
    a_relay_ignores_its_neighbour_for_a_while("aodv");
}

#[test]
fn a_macfilter_that_cannot_be_used_is_refused_with_the_remedy() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("walk.macfilter");
    fs::write(&file, "at 0 node 1 ignores nobody\nat 1 node 1 ignores 02:zz\n").unwrap();
    let said = |more: &[&str]| {
        let mut command = std::process::Command::new(WAYHOP);
        command.args(["node", "--check", "--interface", "lo", "--address", "10.0.0.3/16", "--macfilter"]);
        let done = command.arg(&file).args(more).output().unwrap();
        assert_eq!(done.status.code(), Some(2));
        String::from_utf8(done.stderr).unwrap()
    };
    let e = said(&[]);
    assert!(e.contains("macfilter.file") && e.contains("is selected for this host"), "{e}");
    let e = said(&["--set", "macfilter.node=1"]);
    assert!(e.contains("walk.macfilter:2: \"02:zz\" is not a link address"), "{e}");
    fs::write(&file, "at 0 node 1 ignores nobody\n").unwrap();
    let e = said(&["--set", "macfilter.node=2"]);
    assert!(e.contains("has no line for node 2"), "{e}");
    let wrong = "macfilter.link_addresses={ \"02:00:0a:00:00:03\" = \"3c\" }";
    let e = said(&["--set", "macfilter.node=1", "--set", wrong]);
    assert!(e.contains("\"3c\" is not a link address"), "{e}");
}
