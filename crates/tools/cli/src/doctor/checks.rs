//! The checks of each mode, and their remedies.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use wayhop_linux::probe;
use wayhop_netns::{Namespace, allow_services, order};

/// One thing that a mode requires or can use.
#[derive(Debug)]
pub(super) struct Check {
    pub(super) what: &'static str,
    pub(super) is_there: bool,
    /// Whether the mode does not work without it.
    pub(super) is_needed: bool,
    pub(super) found: String,
    pub(super) remedy: &'static str,
}

impl Check {
    fn needed(what: &'static str, found: Result<String, String>, remedy: &'static str) -> Self {
        Self { is_needed: true, ..Self::useful(what, found, remedy) }
    }
    fn useful(what: &'static str, found: Result<String, String>, remedy: &'static str) -> Self {
        let is_there = found.is_ok();
        let (Ok(found) | Err(found)) = found;
        Self { what, is_there, is_needed: false, found, remedy }
    }
}

pub(super) fn sim() -> Vec<Check> {
    vec![Check::needed("simulation", Ok("needs only this program".to_owned()), "")]
}

pub(super) fn emulate() -> Vec<Check> {
    vec![
        capabilities(&[("CAP_NET_ADMIN", 12), ("CAP_SYS_ADMIN", 21)]),
        tun(),
        namespaces(),
        forwarding(),
        Check::useful(
            "open files",
            probe::open_files(),
            "raise the limit for large emulations: `ulimit -n 65536`, or LimitNOFILE= in a service",
        ),
    ]
}

pub(super) fn lab() -> Vec<Check> {
    vec![
        capabilities(&[("CAP_NET_ADMIN", 12), ("CAP_NET_RAW", 13), ("CAP_SYS_ADMIN", 21)]),
        tun(),
        namespaces(),
        Check::needed(
            "veth and bridge",
            in_namespace(|n| {
                order(n, "ip", &["-batch", "-"], "link add wh0 type veth\nlink add wh1 type bridge\n")
            }),
            "apt-get install iproute2, and load the modules: `modprobe -a veth bridge`",
        ),
        Check::needed(
            "nftables",
            in_namespace(|n| order(n, "nft", &["-f", "-"], "add table bridge wh\n")),
            "apt-get install nftables; the kernel needs CONFIG_NF_TABLES",
        ),
        forwarding(),
    ]
}

pub(super) fn node() -> Vec<Check> {
    let wlan = probe::wireless_interfaces();
    let wlan = if wlan.is_empty() { Err("none found".to_owned()) } else { Ok(wlan.join(", ")) };
    vec![
        capabilities(&[("CAP_NET_ADMIN", 12), ("CAP_NET_RAW", 13)]),
        tun(),
        Check::useful(
            "wireless interface",
            wlan,
            "plug one in and set it to IBSS (ad hoc) or mesh mode; a wired interface works too, with network-layer \
             acknowledgements",
        ),
        Check::useful(
            "transmit status (SO_WIFI_STATUS)",
            probe::transmit_status(),
            "use an interface whose driver reports the transmit status of frames, as mac80211 drivers do; without it, \
             losses are detected by passive and network-layer acknowledgements and by Hellos",
        ),
        Check::useful(
            "signal of neighbours",
            probe::signal(),
            "plug in a wireless interface; if its driver has no station table, add a monitor interface: `iw dev wlan0 \
             interface add mon0 type monitor && ip link set mon0 up`, and set `signal = \"monitor:mon0\"`",
        ),
        Check::useful(
            "gpsd",
            gpsd(),
            "install gpsd to give the node its position: `apt-get install gpsd`; or set it with `wayhop ctl position`",
        ),
        Check::useful(
            "ip_forward",
            probe::ip_forward(),
            "needed by protocols that forward in the kernel; the daemon enables it, or `sysctl -w net.ipv4.ip_forward=1`",
        ),
        Check::useful(
            "leftovers of killed nodes",
            traces(),
            "restore the settings with `sudo wayhop node --restore`; the next node at that interface does so too",
        ),
    ]
}

pub(super) fn tools() -> Vec<Check> {
    [
        ("tshark", "tshark", "apt-get install tshark (inspects captures)"),
        ("iperf3", "iperf3", "apt-get install iperf3 (generates load)"),
        ("ping", "ping", "apt-get install iputils-ping"),
        ("ip", "ip", "apt-get install iproute2 (shows interfaces and routes)"),
        ("gpspipe", "gpspipe", "apt-get install gpsd-clients (shows the positions of emulated nodes)"),
        ("ffmpeg", "ffmpeg", "apt-get install ffmpeg (video over a mesh, `wayhop reproduce pran`)"),
        ("socat", "socat", "apt-get install socat (connections and datagrams, `wayhop reproduce pran`)"),
        ("chromium", "chromium", "apt-get install chromium (shows reports)"),
        ("ns-2", "ns", "apt-get install ns2 (comparisons)"),
    ]
    .into_iter()
    .map(|(what, program, remedy)| Check::useful(what, in_path(program), remedy))
    .collect()
}

fn capabilities(needed: &[(&str, u32)]) -> Check {
    let missing = probe::missing_capabilities(needed);
    let all: Vec<&str> = needed.iter().map(|(n, _)| *n).collect();
    let found =
        if missing.is_empty() { Ok(all.join(", ")) } else { Err(format!("missing {}", missing.join(", "))) };
    Check::needed(
        "root or capabilities",
        found,
        "run wayhop with sudo, or as a service with these capabilities",
    )
}

fn tun() -> Check {
    Check::needed(
        "/dev/net/tun",
        probe::tun(),
        "`modprobe tun`; in a container, pass it the device /dev/net/tun",
    )
}

fn namespaces() -> Check {
    Check::needed(
        "network namespaces",
        in_namespace(|_| Ok(())),
        "run wayhop with sudo; in a container, add CAP_SYS_ADMIN; the kernel needs CONFIG_NET_NS",
    )
}

fn forwarding() -> Check {
    Check::needed(
        "forwarding in a namespace",
        in_namespace(|n| n.within(allow_services)),
        "mount /proc/sys writable; in a container, run it privileged or with `--security-opt systempaths=unconfined`",
    )
}

/// Tries something in a temporary network namespace, as an emulation or a lab does it.
fn in_namespace(attempt: impl FnOnce(&Namespace) -> io::Result<()>) -> Result<String, String> {
    let tried = Namespace::new().and_then(|namespace| attempt(&namespace));
    // Only the first line of a program's messages.
    let first =
        |e: io::Error| e.to_string().lines().next().unwrap_or("tried, fails").replace(char::is_control, " ");
    tried.map(|()| "tried, works".to_owned()).map_err(first)
}

/// What nodes left behind that were killed together with the process that restores the host.
fn traces() -> Result<String, String> {
    let left = wayhop_daemon::left().map_err(|e| e.to_string())?;
    if left.is_empty() {
        return Ok("none".to_owned());
    }
    Err(format!("{}: not restored after a node was killed", left.join(", ")))
}

fn gpsd() -> Result<String, String> {
    let address = SocketAddr::from(([127, 0, 0, 1], wayhop_control::gpsd::PORT));
    match TcpStream::connect_timeout(&address, Duration::from_millis(300)) {
        Ok(_) => Ok(format!("answers at {address}")),
        Err(e) => Err(format!("does not answer at {address}: {e}")),
    }
}

fn in_path(program: &str) -> Result<String, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|dir| dir.join(program))
        .find(|p| p.is_file())
        .map(|p| p.display().to_string())
        .ok_or_else(|| "not found".to_owned())
}
