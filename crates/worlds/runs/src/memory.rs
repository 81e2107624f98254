//! Whether a simulation fits into memory, judged by its number of nodes before anything is made of them.
//!
//! The figures are lower bounds, so that no run is refused that would fit: `bench/README.md` has the measured ones, and
//! `wayhop run --check` estimates a run by simulating its beginning.

use std::fs;
use std::path::Path;

use wayhop_core::{Cx, Effect, Interface, Pool, Purpose, stream};
use wayhop_scenario::{Resolved, Scenario};

use crate::error::Error;

/// What a node takes that neither sends nor hears anything, bytes: 380 with AODV, measured.
const IDLE_NODE: f64 = 300.0;
/// What a node takes that sends regularly, and for each neighbour that it hears, bytes: DSDV takes 1,030 without neighbours,
/// AODV with Hellos 5,100 with 21 of them.
const SPEAKING_NODE: f64 = 1_000.0;
const NEIGHBOUR: f64 = 120.0;
/// What an application takes besides, bytes: a node without a routing protocol that sends beacons takes 1,600 before its first one, and
/// 3,000 once all send; more with tables.
const APPLICATION: f64 = 1_200.0;
/// Address space for a node, bytes: more than most take. What is not used costs nothing.
#[cfg(feature = "linux")]
const LARGE_PAGES_FOR_NODE: f64 = 8_192.0;
/// The state of fewer nodes is in the processor's caches, and its pages are known to it.
#[cfg(feature = "linux")]
const MANY_NODES: usize = 4_096;

/// Refuses a scenario whose number of nodes alone is too large, before their movement is generated.
///
/// # Errors
/// The nodes do not fit.
pub fn check_count(scenario: &Scenario) -> Result<(), Error> {
    // No scenario may have more than a million nodes, whatever the memory.
    let nodes = scenario.nodes.count.filter(|n| *n <= 1_000_000).unwrap_or(0);
    refuse(scenario, refusal(nodes.into(), IDLE_NODE, available()))
}

/// Refuses a simulation that does not fit.
///
/// # Errors
/// It does not fit.
pub fn check(scenario: &Scenario, resolved: &Resolved) -> Result<(), Error> {
    refuse(scenario, refusal(resolved.tracks.len() as f64, bytes_each(resolved), available()))
}

/// What a node takes on average, bytes.
fn bytes_each(resolved: &Resolved) -> f64 {
    let node =
        if speaks_unasked(resolved) { SPEAKING_NODE + NEIGHBOUR * neighbours(resolved) } else { IDLE_NODE };
    let applications = resolved.applications.len() as f64 / resolved.tracks.len().max(1) as f64;
    node + APPLICATION * applications
}

/// Asks the kernel for large pages where there are many nodes, whose memory is accessed in no order: with 20,000 nodes a simulation
/// takes about half the time. Call it from the thread that will run the simulation, the main one, before that is made.
#[cfg(feature = "linux")]
pub fn prepare(resolved: &Resolved) {
    let nodes = resolved.tracks.len();
    if nodes >= MANY_NODES {
        let most = available().unwrap_or(f64::INFINITY) / 2.0;
        // Without large pages everything works as well.
        wayhop_linux::heap::use_large_pages((nodes as f64 * LARGE_PAGES_FOR_NODE).min(most) as usize);
    }
}

/// Other systems decide about the size of pages by themselves.
#[cfg(not(feature = "linux"))]
pub fn prepare(_: &Resolved) {}

fn refuse(scenario: &Scenario, refusal: Option<(String, String)>) -> Result<(), Error> {
    let Some((reason, remedy)) = refusal else { return Ok(()) };
    let key = if scenario.nodes.count.is_some() { "nodes.count" } else { "movement" };
    Err(Error::Usage(scenario.document.error(key, reason, remedy).to_string()))
}

/// Why a number of nodes does not fit, and the remedy.
fn refusal(nodes: f64, bytes_each: f64, available: Option<f64>) -> Option<(String, String)> {
    let needed = nodes * bytes_each;
    let available = available.filter(|available| needed > *available)?;
    let reason = format!(
        "{nodes} nodes need at least {} of memory ({bytes_each:.0} bytes each), and {} are available",
        size(needed),
        size(available)
    );
    let most = rounded_down((available / bytes_each) as u64);
    let remedy =
        format!("simulate up to {most} nodes, or run on a machine or in a container with more memory");
    Some((reason, remedy))
}

/// Bytes, for people.
fn size(bytes: f64) -> String {
    if bytes < 1e9 { format!("{:.0} MB", bytes / 1e6) } else { format!("{:.1} GB", bytes / 1e9) }
}

/// To two digits.
fn rounded_down(n: u64) -> u64 {
    let mut unit = 1;
    while n / unit >= 100 {
        unit *= 10;
    }
    n / unit * unit
}

/// Whether the protocol sets a timer as it starts, as those do that send regularly.
fn speaks_unasked(scenario: &Resolved) -> bool {
    // What others would do at their start may have effects outside.
    if !scenario.protocol.parameters().starts_again() {
        return false;
    }
    let Some(&addr) = scenario.addresses.first() else { return false };
    let (mut rng, mut pool, mut next_id, mut effects) =
        (stream(scenario.seed, Purpose::Protocol, 0), Pool::new(), 0, Vec::new());
    let interface = Interface { queued: 0, acknowledges: true };
    let mut cx =
        Cx::new(wayhop_core::Time::ZERO, addr, interface, &mut rng, &mut pool, &mut next_id, &mut effects);
    scenario.protocol.engine().start(&mut cx);
    effects.iter().any(|e| matches!(e, Effect::SetTimer(..)))
}

/// How many neighbours a node has where all are spread evenly over the area.
fn neighbours(scenario: &Resolved) -> f64 {
    let others = scenario.tracks.len().saturating_sub(1) as f64;
    let [x, y, _] = scenario.area;
    let Some(radio) = scenario.interfaces.radios.first() else { return 0.0 };
    let range = radio.config.nominal_range_m();
    let share = std::f64::consts::PI * range * range / (x * y);
    // Nodes on a line, and the like: nobody knows.
    if x * y > 0.0 { others * share.min(1.0) } else { 0.0 }
}

/// How much memory this process can still get, bytes; `None` where the system does not say.
fn available() -> Option<f64> {
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    let of_machine = of_machine(&read("/proc/meminfo"));
    let of_groups = of_groups(&read("/proc/self/cgroup"), Path::new("/sys/fs/cgroup"));
    let of_process = of_process(&read("/proc/self/limits"), &read("/proc/self/status"));
    [of_machine, of_groups, of_process].into_iter().flatten().reduce(f64::min)
}

/// What the limit of its address space (`ulimit -v`) leaves this process, by `/proc/self/limits` and `/proc/self/status`.
fn of_process(limits: &str, status: &str) -> Option<f64> {
    let limit = limits.lines().find_map(|l| l.strip_prefix("Max address space"))?;
    let limit: f64 = limit.split_whitespace().next()?.parse().ok()?;
    Some((limit - kilobytes(status, "VmSize:").unwrap_or(0.0)).max(0.0))
}

/// What `/proc/meminfo` says that new processes can have, swap left out.
fn of_machine(meminfo: &str) -> Option<f64> {
    kilobytes(meminfo, "MemAvailable:")
}

/// A line of this name in units of 1,024 bytes, in bytes.
pub(crate) fn kilobytes(text: &str, name: &str) -> Option<f64> {
    let line = text.lines().find_map(|l| l.strip_prefix(name))?;
    Some(1024.0 * line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok()?)
}

/// What the limits of the control groups of `/proc/self/cgroup` leave; `root` is where groups are mounted.
fn of_groups(groups: &str, root: &Path) -> Option<f64> {
    let left = |line: &str| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        // Version 2 has one hierarchy and names no controllers, version 1 has one for memory.
        let (base, limit, used) = match controllers {
            "" => (root.to_path_buf(), "memory.max", "anon"),
            "memory" => (root.join("memory"), "memory.limit_in_bytes", "total_rss"),
            _ => return None,
        };
        let own = Path::new(path.trim_start_matches('/'));
        // A limit holds for all groups below. In a container the path may be that of the host.
        own.ancestors().filter_map(|group| limit_left(&base.join(group), limit, used)).reduce(f64::min)
    };
    groups.lines().filter_map(left).reduce(f64::min)
}

/// What a group's limit leaves: what its processes have now is taken off, but not files kept in memory.
fn limit_left(group: &Path, limit: &str, used: &str) -> Option<f64> {
    // "max" is no number, and no limit.
    let limit: f64 = fs::read_to_string(group.join(limit)).ok()?.trim().parse().ok()?;
    let stat = fs::read_to_string(group.join("memory.stat")).unwrap_or_default();
    let used = stat.lines().find_map(|l| l.strip_prefix(used)?.trim().parse::<f64>().ok());
    Some((limit - used.unwrap_or(0.0)).max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(text: &str) -> Resolved {
        Scenario::from_text(text, &[]).and_then(|s| s.resolve()).unwrap_or_else(|e| panic!("{e}"))
    }

    #[test]
    fn nodes_that_do_not_fit_are_refused_with_a_number_that_does() {
        assert_eq!(refusal(1e6, 300.0, Some(3.1e8)), None);
        assert_eq!(refusal(1e6, 300.0, None), None);
        let (reason, remedy) = refusal(1e7, 300.0, Some(2.5e9)).expect("it is refused");
        let expected =
            "10000000 nodes need at least 3.0 GB of memory (300 bytes each), and 2.5 GB are available";
        assert_eq!(reason, expected);
        assert!(remedy.contains("up to 8300000 nodes"), "{remedy}");
        assert_eq!(refusal(8.3e6, 300.0, Some(2.5e9)), None);
    }

    #[test]
    fn a_limited_address_space_leaves_what_is_not_mapped() {
        let limits =
            "Limit  Soft Limit  Hard Limit  Units\nMax address space         5000000    unlimited   bytes\n";
        assert_eq!(of_process(limits, "VmSize:\t    1000 kB\n"), Some(5e6 - 1_024_000.0));
        assert_eq!(of_process("Max address space  unlimited unlimited bytes\n", ""), None);
    }

    #[test]
    fn the_memory_of_the_machine_is_what_it_says_is_available() {
        let text = "MemTotal:       24000000 kB\nMemFree:  1000 kB\nMemAvailable:   23000000 kB\n";
        assert_eq!(of_machine(text), Some(23_000_000.0 * 1024.0));
        assert_eq!(of_machine("MemTotal: 1 kB\n"), None);
    }

    #[test]
    fn the_tightest_limit_of_a_groups_ancestors_counts() {
        let root = tempfile::tempdir().expect("a folder");
        let write = |file: &str, text: &str| {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().expect("a folder"))
                .and_then(|()| fs::write(path, text))
                .expect("a file");
        };
        write("memory.max", "max\n");
        write("a/memory.max", "5000\n");
        write("a/memory.stat", "anon 1000\nfile 4000\n");
        write("a/b/memory.max", "9000\n");
        assert_eq!(of_groups("0::/a/b\n", root.path()), Some(4_000.0));
        assert_eq!(of_groups("0::/\n", root.path()), None);
        write("memory/host/memory.limit_in_bytes", "700\n");
        write("memory/host/memory.stat", "rss 1\ntotal_rss 100\n");
        write("memory/memory.limit_in_bytes", "9223372036854771712\n");
        let first = "9:name=systemd:/x\n4:memory:/host/own\n0::/\n";
        assert_eq!(of_groups(first, root.path()), Some(600.0));
    }

    #[test]
    fn nodes_that_send_regularly_count_with_their_neighbours() {
        let head = "duration_s = 10\nnodes.count = 101\narea = { x_m = 1000, y_m = 1000 }\n\
                    movement = { kind = \"random-waypoint\", speed_max_mps = 20 }\n";
        let idle = resolved(&format!("{head}protocol = {{ name = \"aodv\" }}\n"));
        let hellos = resolved(&format!("{head}protocol = {{ name = \"aodv\", hello = \"always\" }}\n"));
        assert!(!speaks_unasked(&idle) && speaks_unasked(&hellos));
        // A circle of 250 m holds a fifth of a square kilometre.
        assert!((neighbours(&hellos) - 19.6).abs() < 0.1, "{}", neighbours(&hellos));
    }

    #[test]
    fn applications_count_at_the_nodes_that_have_them() {
        let text = |nodes: &str| {
            format!(
                "duration_s = 1\nnodes.count = 4\nprotocol.name = \"none\"\n\
                 movement = {{ kind = \"chain\", spacing_m = 100 }}\n[[applications]]\nname = \"beacon\"\n{nodes}"
            )
        };
        assert_eq!(bytes_each(&resolved(&text(""))), IDLE_NODE + APPLICATION);
        assert_eq!(bytes_each(&resolved(&text("nodes = [0]\n"))), IDLE_NODE + APPLICATION / 4.0);
    }
}
