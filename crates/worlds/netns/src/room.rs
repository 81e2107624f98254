//! Checks that this machine and this process have what a run needs, before it starts.

use std::fs;
use std::path::Path;

use nix::sys::resource::{Resource, getrlimit, rlim_t, setrlimit};

use crate::error::Error;

/// What a process has open besides its nodes: standard streams, sockets, tables and captures.
const OTHERS: u64 = 256;

/// What a run needs.
#[derive(Copy, Clone, Debug, Default)]
pub struct Need {
    /// Nodes, each a network namespace.
    pub nodes: usize,
    /// Open files of this process.
    pub descriptors: u64,
    /// Octets of memory that each node takes, in the kernel and in its processes.
    pub octets_per_node: u64,
    /// Processes and threads of each node.
    pub tasks_per_node: u64,
}

/// Raises the limit of open files to `files`, as far as this process may, and checks the other limits.
///
/// # Errors
/// If there is not: what is needed, what there is, and what helps.
pub fn make_room(need: &Need) -> Result<(), Error> {
    files(need)?;
    namespaces(need, number("/proc/sys/user/max_net_namespaces"))?;
    memory(need, available())?;
    tasks(need, tasks_left())
}

fn files(need: &Need) -> Result<(), Error> {
    let (nodes, needed): (usize, rlim_t) = (need.nodes, need.descriptors + OTHERS);
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE)
        .map_err(|e| Error::system("cannot read the limit of open files", e))?;
    if needed <= soft {
        return Ok(());
    }
    // Root may go beyond the hard limit, up to the kernel's.
    let raised = setrlimit(Resource::RLIMIT_NOFILE, needed, hard.max(needed));
    raised.map_err(|_| {
        let allowed = soft.max(hard);
        Error::Limit(format!(
            "{nodes} nodes need {needed} open files, and the limit is {allowed}: run `ulimit -n {needed}` \
             as root first, or use fewer nodes"
        ))
    })
}

fn namespaces(need: &Need, most: Option<u64>) -> Result<(), Error> {
    // One more is a lab's wire, and others may have some.
    let needed = need.nodes as u64 + 1;
    match most {
        Some(most) if most < needed => Err(Error::Limit(format!(
            "{} nodes need {needed} network namespaces, and the limit is {most}: run `sysctl -w \
             user.max_net_namespaces={}` as root first, or use fewer nodes",
            need.nodes,
            2 * needed
        ))),
        _ => Ok(()),
    }
}

fn memory(need: &Need, available: Option<u64>) -> Result<(), Error> {
    let mib = |octets: u64| octets.div_ceil(1 << 20);
    let needed = need.octets_per_node.saturating_mul(need.nodes as u64);
    match available {
        Some(available) if available < needed => Err(Error::Limit(format!(
            "{} nodes need about {} MiB of memory, and {} MiB are free: stop other programs, or use fewer \
             nodes",
            need.nodes,
            mib(needed),
            mib(available)
        ))),
        _ => Ok(()),
    }
}

fn tasks(need: &Need, left: Option<u64>) -> Result<(), Error> {
    let needed = need.tasks_per_node.saturating_mul(need.nodes as u64);
    match left {
        Some(left) if left < needed => Err(Error::Limit(format!(
            "{} nodes need about {needed} processes and threads, and {left} are left: raise \
             kernel.threads-max, kernel.pid_max or the control group's pids.max, or use fewer nodes",
            need.nodes
        ))),
        _ => Ok(()),
    }
}

/// The number in a file of the kernel's.
fn number(path: impl AsRef<Path>) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// Octets that programs can have without swapping.
fn available() -> Option<u64> {
    let info = fs::read_to_string("/proc/meminfo").ok()?;
    let line = info.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// How many processes and threads may be added: by the kernel and by the control groups that this process is in.
fn tasks_left() -> Option<u64> {
    let kernel = [number("/proc/sys/kernel/threads-max"), number("/proc/sys/kernel/pid_max")];
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let of_group = groups.lines().filter_map(|line| {
        // Of version 2: `0::/path`; of version 1: `8:pids:/path`.
        let (controller, path) = line.split_once(':')?.1.split_once(':')?;
        let root = match controller {
            "" => "/sys/fs/cgroup",
            "pids" => "/sys/fs/cgroup/pids",
            _ => return None,
        };
        let folder = Path::new(root).join(path.trim_start_matches('/'));
        let most = number(folder.join("pids.max"))?;
        Some(most.saturating_sub(number(folder.join("pids.current")).unwrap_or(0)))
    });
    kernel.into_iter().flatten().chain(of_group).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_any_kernel_gives_is_refused_with_the_remedy() {
        let need = |nodes, descriptors| Need { nodes, descriptors, ..Need::default() };
        assert!(make_room(&need(1, 4)).is_ok());
        let before = getrlimit(Resource::RLIMIT_NOFILE).expect("a limit");
        let e = make_room(&need(5_000, 1 << 62)).expect_err("refused").to_string();
        assert!(
            e.starts_with("5000 nodes need 4611686018427388160 open files") && e.contains("ulimit -n"),
            "{e}"
        );
        assert_eq!(getrlimit(Resource::RLIMIT_NOFILE).expect("a limit"), before);
    }

    #[test]
    fn memory_namespaces_and_processes_are_looked_at_too() {
        let need = Need { nodes: 300, octets_per_node: 1 << 20, tasks_per_node: 5, ..Need::default() };
        assert!(memory(&need, Some(300 << 20)).is_ok() && memory(&need, None).is_ok());
        assert_eq!(
            memory(&need, Some(100 << 20)).expect_err("refused").to_string(),
            "300 nodes need about 300 MiB of memory, and 100 MiB are free: stop other programs, or use fewer nodes"
        );
        assert!(namespaces(&need, Some(301)).is_ok() && namespaces(&need, None).is_ok());
        let e = namespaces(&need, Some(300)).expect_err("refused").to_string();
        assert!(
            e.contains("need 301 network namespaces") && e.contains("user.max_net_namespaces=602"),
            "{e}"
        );
        assert!(tasks(&need, Some(1500)).is_ok());
        let e = tasks(&need, Some(1499)).expect_err("refused").to_string();
        assert!(e.contains("about 1500 processes and threads, and 1499 are left"), "{e}");
        // No machine has so much: what is read of it counts.
        let e = make_room(&Need { nodes: 1 << 20, octets_per_node: 1 << 40, ..Need::default() });
        assert!(e.expect_err("refused").to_string().contains("nodes need"));
    }

    #[test]
    fn this_machine_says_what_it_has() {
        assert!(available().is_some_and(|octets| octets > 1 << 20));
        assert!(tasks_left().is_some_and(|n| n > 0));
    }
}
