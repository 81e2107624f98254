//! A node's changes to its host are undone, whichever process is killed: the node, the process that
//! restores the host, or both.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::mesh::{Mesh, WAYHOP, skip_without_root};

const SECONDS_20: Duration = Duration::from_secs(20);

/// The protocols, and what else a node has set.
const NODES: [(&str, &[&str]); 3] =
    [("dsr", &[]), ("aodv", &[]), ("dsr", &["address6=fd00:77::1/64", "protocol.max_request_rexmt=1"])];

/// The process that sets the host of a node back.
fn helper(mesh: &Mesh, i: usize) -> u32 {
    let pid = mesh.pid(i);
    fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap().trim().parse().unwrap()
}

fn signal(which: &str, process: u32) {
    assert!(Command::new("kill").args([which, &process.to_string()]).status().unwrap().success());
}

fn is_gone(process: u32) -> bool {
    !Path::new(&format!("/proc/{process}")).exists()
}

/// What a node changes of its host's network.
fn network(mesh: &Mesh, i: usize) -> String {
    let state = mesh.host_state(i);
    let run = mesh.folder().join("run").display().to_string();
    let no_file = |line: &&str| !line.starts_with(&run);
    let ipv6 = mesh.run(i, "sysctl net.ipv6.conf.eth1.disable_ipv6").1;
    state.lines().filter(no_file).chain(ipv6.lines()).collect::<Vec<_>>().join("\n")
}

/// Kills a node together with its helper: nobody sets the host back.
fn kill_both(mesh: &mut Mesh, i: usize) {
    let helper = helper(mesh, i);
    signal("-STOP", mesh.pid(i));
    signal("-9", helper);
    mesh.kill(i);
}

/// The list of a host whose node was killed.
fn list(mesh: &Mesh) -> PathBuf {
    let files = fs::read_dir(mesh.folder().join("run")).unwrap().map(|f| f.unwrap().path());
    let mut lists = files.filter(|f| f.extension().is_some_and(|x| x == "undo"));
    let list = lists.next().expect("a list");
    assert_eq!(lists.next(), None);
    list
}

#[test]
fn a_node_whose_helper_is_killed_says_so_leaves_the_mesh_and_sets_the_host_back() {
    skip_without_root!();
    for (protocol, sets) in NODES {
        let mut mesh = Mesh::line(1);
        let (before, all) = (network(&mesh, 0), mesh.host_state(0));
        mesh.start(0, protocol, sets);
        assert_ne!(network(&mesh, 0), before, "a node changes its host");
        let helper = helper(&mesh, 0);
        signal("-9", helper);
        mesh.until("the node says so", SECONDS_20, |m| m.said(0).contains(&format!("({helper}) was killed")));
        assert_eq!(mesh.end_by_itself(0), Some(1), "{}", mesh.said(0));
        assert_eq!(network(&mesh, 0), before, "{protocol}");
        // Settings that it restored itself are not restored again, whatever became of them.
        assert!(mesh.run(0, "sysctl -w net.ipv4.conf.eth1.send_redirects=0").0);
        let (ok, said) = restore(&mesh);
        assert!(ok && said.contains("nothing to restore"), "{said}");
        assert_eq!(mesh.run(0, "sysctl -n net.ipv4.conf.eth1.send_redirects").1.trim(), "0");
        assert!(mesh.run(0, "sysctl -w net.ipv4.conf.eth1.send_redirects=1").0);
        assert_eq!(mesh.host_state(0), all, "{protocol}: and its files are gone");
    }
}

#[test]
fn a_node_that_is_ended_when_its_helper_has_just_been_killed_sets_the_host_back() {
    skip_without_root!();
    let mut mesh = Mesh::line(1);
    let before = network(&mesh, 0);
    mesh.start(0, "aodv", &[]);
    let helper = helper(&mesh, 0);
    // It learns of both at once.
    mesh.signal(0, "-STOP");
    signal("-9", helper);
    mesh.signal(0, "-TERM");
    mesh.signal(0, "-CONT");
    mesh.end_by_itself(0);
    assert_eq!(network(&mesh, 0), before, "{}", mesh.said(0));
    assert!(mesh.said(0).contains("the node undid its changes itself"), "{}", mesh.said(0));
}

#[test]
fn a_host_is_as_before_when_a_node_was_killed_with_its_helper_and_another_ran() {
    skip_without_root!();
    for (protocol, sets) in NODES {
        let mut mesh = Mesh::line(1);
        let before = mesh.host_state(0) + &network(&mesh, 0);
        for _ in 0..2 {
            mesh.start(0, protocol, sets);
            kill_both(&mut mesh, 0);
            assert_ne!(network(&mesh, 0), before, "nobody set the host back");
        }
        mesh.start(0, protocol, sets);
        assert!(mesh.said(0).contains("eth1: undid the changes of a killed node"), "{}", mesh.said(0));
        mesh.stop(0);
        assert_eq!(mesh.host_state(0) + &network(&mesh, 0), before, "{protocol}");
    }
}

#[test]
fn a_node_waits_for_the_helper_of_the_one_before_it_which_takes_nothing_from_it() {
    skip_without_root!();
    for protocol in ["dsr", "aodv"] {
        let mut mesh = Mesh::line(2);
        mesh.start(1, protocol, &[]);
        let before = network(&mesh, 0);
        mesh.start(0, protocol, &[]);
        let helper = helper(&mesh, 0);
        // The helper works when the pipe from the node has ended everywhere. (One that is stopped goes on when its parent dies.)
        let pipe = fs::OpenOptions::new().write(true).open(format!("/proc/{helper}/fd/0")).unwrap();
        mesh.kill(0);
        mesh.start_with(
            0,
            &["node", "--interface", "eth1", "--address", "10.0.0.1/16", "--protocol", protocol],
        );
        // The delay is what is tested: a node that did not wait would be ready.
        std::thread::sleep(Duration::from_secs(1));
        drop(pipe);
        mesh.until("the helper is done", SECONDS_20, |_| is_gone(helper));
        mesh.until("the node is ready", SECONDS_20, |m| m.said(0).contains("programs use mesh0"));
        let addresses = mesh.ip(0, "-4 address show dev eth1");
        assert!(addresses.contains("10.0.0.1/32"), "{protocol}: {addresses}");
        mesh.ping(0, 1, 2);
        mesh.stop(0);
        assert_eq!(network(&mesh, 0), before, "{protocol}");
    }
}

#[test]
fn a_second_node_at_an_interface_is_refused_with_the_process_of_the_first() {
    skip_without_root!();
    let mut mesh = Mesh::line(2);
    let before = mesh.host_state(0);
    mesh.start(0, "aodv", &[]);
    mesh.start(1, "aodv", &[]);
    let during = mesh.host_state(0);
    let second = [
        WAYHOP,
        "node",
        "--interface",
        "eth1",
        "--address",
        "10.0.0.7/16",
        "--tun",
        "mesh7",
        "--protocol",
        "dsr",
    ];
    let folder = mesh.folder().join("run").display().to_string();
    let variable = format!("WAYHOP_RUNTIME_DIR={folder}");
    let all: Vec<&str> = ["env", &variable].into_iter().chain(second).collect();
    let (ok, said) = mesh.run_args(0, &all);
    assert!(
        !ok && said.contains(&format!("a node is already running on eth1, as process {}", mesh.pid(0))),
        "{said}"
    );
    assert_eq!(mesh.host_state(0), during);
    mesh.ping(0, 1, 2);
    mesh.stop_all();
    assert_eq!(mesh.host_state(0), before);
}

/// Undoes the changes of killed nodes at host 0. Settings of all interfaces are shared by all nodes
/// of a host: the last one to end restores them.
#[test]
fn of_two_nodes_of_a_host_the_last_one_sets_the_settings_of_all_interfaces_back() {
    skip_without_root!();
    let mut mesh = Mesh::line(2);
    mesh.cable((0, "eth2", "10.99.0.1/24"), (1, "eth2", "10.99.0.2/24"));
    let redirects = |m: &Mesh| m.run(0, "sysctl -n net.ipv4.conf.all.send_redirects").1.trim().to_owned();
    assert_eq!(redirects(&mesh), "1");
    mesh.start(0, "dsr", &[]);
    let variable = format!("WAYHOP_RUNTIME_DIR={}", mesh.folder().join("run").display());
    let second = ["--interface", "eth2", "--address", "10.78.0.3/24", "--tun", "mesh1", "--protocol", "dsr"];
    let second = mesh.start_program(0, &[&["env", &variable, WAYHOP, "node"][..], &second[..]].concat());
    mesh.until("the second node is there", SECONDS_20, |m| {
        m.run(0, "ip -4 -br address show mesh1").1.contains("10.78.0.3")
    });
    mesh.stop(0);
    assert_eq!(redirects(&mesh), "0", "the second node needs it");
    drop(second);
    mesh.until("all is as before", SECONDS_20, |m| redirects(m) == "1");
}

fn restore(mesh: &Mesh) -> (bool, String) {
    let variable = format!("WAYHOP_RUNTIME_DIR={}", mesh.folder().join("run").display());
    mesh.run_args(0, &["env", &variable, WAYHOP, "node", "--restore"])
}

/// What doctor says of traces of killed nodes at host 0.
fn doctor(mesh: &Mesh) -> String {
    let variable = format!("WAYHOP_RUNTIME_DIR={}", mesh.folder().join("run").display());
    let (_, said) = mesh.run_args(0, &["env", &variable, WAYHOP, "doctor", "node"]);
    said.lines().find(|l| l.contains("leftovers of killed nodes")).expect("a line").to_owned()
}

#[test]
fn doctor_tells_of_what_killed_nodes_left_and_restore_sets_it_back() {
    skip_without_root!();
    let mut mesh = Mesh::line(1);
    let before = mesh.host_state(0);
    assert!(doctor(&mesh).ends_with(": none"));
    mesh.start(0, "aodv", &[]);
    let (ok, said) = restore(&mesh);
    assert!(ok && said.contains("nothing to restore"), "a node that runs is left alone: {said}");
    assert!(doctor(&mesh).ends_with(": none"));
    kill_both(&mut mesh, 0);
    assert!(doctor(&mesh).contains("eth1: not restored after a node was killed"), "{}", doctor(&mesh));
    let (ok, said) = restore(&mesh);
    assert!(ok && said.contains("changed at eth1"), "{said}");
    assert_eq!(mesh.host_state(0), before);
    assert!(doctor(&mesh).ends_with(": none"));
}

#[test]
fn what_somebody_else_set_meanwhile_stays() {
    skip_without_root!();
    let mut mesh = Mesh::line(1);
    assert!(mesh.run(0, "sysctl -w net.ipv4.conf.eth1.rp_filter=1").0);
    mesh.ip(0, "address add 10.0.0.1/32 dev eth1 scope link");
    let before = mesh.host_state(0);
    mesh.start(0, "aodv", &[]);
    assert!(mesh.run(0, "sysctl -w net.ipv4.conf.eth1.rp_filter=0").0);
    mesh.stop(0);
    assert_eq!(
        mesh.host_state(0),
        before.replace("eth1.rp_filter = 1", "eth1.rp_filter = 0"),
        "the address that the interface had, and the value that the node did not set"
    );
}

#[test]
fn a_node_that_cannot_set_its_host_back_says_so_fails_and_leaves_it_to_others() {
    skip_without_root!();
    let mut mesh = Mesh::line(1);
    let before = mesh.host_state(0);
    mesh.start(0, "aodv", &[]);
    // The node and its helper have mounts of their own, by `ip netns exec`.
    let pid = mesh.pid(0).to_string();
    let mount = ["-t", &pid, "-m", "mount", "-o", "remount,bind,ro", "/proc"];
    assert!(Command::new("nsenter").args(mount).status().unwrap().success());
    assert_eq!(mesh.end(0), Some(1));
    let said = mesh.said(0);
    assert!(said.contains("eth1: set ipv4 own forwarding 0 1: Read-only file system"), "{said}");
    assert!(
        said.contains("these changes to the host remain") && said.contains("wayhop node --restore"),
        "{said}"
    );
    let (ok, said) = restore(&mesh);
    assert!(ok && said.contains("changed at eth1"), "{said}");
    assert_eq!(mesh.host_state(0), before);
}

#[test]
fn a_node_sets_its_host_back_when_its_list_was_spoiled() {
    skip_without_root!();
    let mut mesh = Mesh::line(1);
    let before = network(&mesh, 0);
    mesh.start(0, "dsr", &[]);
    fs::write(list(&mesh), "nonsense\n").unwrap();
    assert_eq!(mesh.end(0), Some(0), "{}", mesh.said(0));
    assert!(mesh.said(0).contains("the node undid its changes itself"), "{}", mesh.said(0));
    assert_eq!(network(&mesh, 0), before);
}

#[test]
fn what_a_killed_node_left_is_set_back_at_its_interface_under_another_name() {
    skip_without_root!();
    let mut mesh = Mesh::line(1);
    let before = network(&mesh, 0);
    mesh.start(0, "aodv", &[]);
    kill_both(&mut mesh, 0);
    for (from, to) in [("eth1", "radio0"), ("radio0", "eth1")] {
        mesh.ip(0, &format!("link set {from} down"));
        mesh.ip(0, &format!("link set {from} name {to}"));
        mesh.ip(0, &format!("link set {to} up"));
        if to == "radio0" {
            mesh.start_with(0, &["node", "--interface", "radio0", "--address", "10.0.0.1/16"]);
            mesh.until("the node is ready", SECONDS_20, |m| m.said(0).contains("programs use mesh0"));
            mesh.stop(0);
        }
    }
    assert_eq!(network(&mesh, 0), before);
}

#[test]
fn a_list_that_is_none_is_refused_with_its_line_and_the_remedy() {
    skip_without_root!();
    let mut mesh = Mesh::line(1);
    mesh.start(0, "dsr", &[]);
    kill_both(&mut mesh, 0);
    let list = list(&mesh);
    let text = fs::read_to_string(&list).unwrap();
    let left = network(&mesh, 0);
    for (wrong, says) in [
        (text.clone() + "set ipv4 own ../../../kernel/panic 0 1\n", "is not a setting"),
        (text.clone() + "\u{0}\u{1}\n", "is not a change"),
        ("routes\n".to_owned(), "line 1"),
    ] {
        fs::write(&list, wrong).unwrap();
        mesh.start_with(0, &["node", "--interface", "eth1", "--address", "10.0.0.1/16"]);
        assert_eq!(mesh.end_by_itself(0), Some(1));
        let said = mesh.said(0);
        assert!(said.contains(list.to_str().unwrap()) && said.contains(says), "{said}");
        assert!(said.contains("remove the file") && !said.contains("panicked"), "{said}");
        assert!(doctor(&mesh).contains("eth1: not restored after a node was killed"));
        assert_eq!(network(&mesh, 0), left, "nothing is done");
    }
    // Nor is one taken that others could have written.
    fs::write(&list, &text).unwrap();
    assert!(Command::new("chmod").arg("666").arg(&list).status().unwrap().success());
    let (ok, said) = restore(&mesh);
    assert!(!ok && said.contains("not a file that only its owner"), "{said}");
    assert_eq!(network(&mesh, 0), left, "nothing is done");
}

#[test]
fn a_node_cannot_write_its_list_any_more_when_it_reads_its_first_frame() {
    skip_without_root!();
    let mut mesh = Mesh::line(1);
    mesh.start(0, "aodv", &["control=n0"]);
    let list = list(&mesh);
    let m = fs::metadata(&list).unwrap();
    assert_eq!((m.uid(), m.mode() & 0o777), (0, 0o600));
    let folder = fs::metadata(list.parent().unwrap()).unwrap();
    assert_eq!((folder.uid(), folder.mode() & 0o022), (0, 0), "nor remove it");
    let open = fs::read_dir(format!("/proc/{}/fd", mesh.pid(0))).unwrap();
    let open: Vec<PathBuf> = open.filter_map(|f| fs::read_link(f.unwrap().path()).ok()).collect();
    assert!(open.iter().any(|f| f.extension().is_some_and(|x| x == "lock")), "{open:?}");
    assert!(!open.contains(&list), "{open:?}");
    mesh.stop(0);
    assert!(!list.exists());
}

#[test]
fn a_hundred_nodes_killed_at_random_instants_leave_nothing_behind() {
    skip_without_root!();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../bench/kills.py");
    let done = Command::new("python3")
        .args([script, "--kills", "100", "--jobs", "5", "--wayhop", WAYHOP])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stdout) + String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}");
    let report: serde_json::Value = serde_json::from_str(said.lines().last().unwrap()).unwrap();
    assert_eq!(report["clean"], 100, "{said}");
}
