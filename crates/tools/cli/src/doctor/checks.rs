//! The checks of each world, and their remedies.

use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use wayhop_linux::probe;

/// One thing that a world needs or can use.
#[derive(Debug)]
pub(super) struct Check {
    pub(super) what: &'static str,
    pub(super) is_there: bool,
    /// Whether the world does not work without it.
    pub(super) is_needed: bool,
    pub(super) found: String,
    pub(super) remedy: String,
}

impl Check {
    fn needed(what: &'static str, found: Result<String, String>, remedy: &str) -> Self {
        Self::new(what, true, found, remedy)
    }
    fn useful(what: &'static str, found: Result<String, String>, remedy: &str) -> Self {
        Self::new(what, false, found, remedy)
    }
    fn new(what: &'static str, is_needed: bool, found: Result<String, String>, remedy: &str) -> Self {
        let is_there = found.is_ok();
        let found = match found {
            Ok(text) | Err(text) => text,
        };
        Self { what, is_there, is_needed, found, remedy: remedy.to_owned() }
    }
}

pub(super) fn sim() -> Vec<Check> {
    vec![Check::needed("simulation", Ok("needs nothing but this program".to_owned()), "")]
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
            "a large emulation needs more: `ulimit -n 65536`, or LimitNOFILE= in a service",
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
            probe::in_namespace("ip link add wh0 type veth peer name wh1 && ip link add wh2 type bridge"),
            "apt-get install iproute2; load the modules veth and bridge: `modprobe veth bridge`",
        ),
        Check::needed(
            "nftables",
            probe::in_namespace("nft add table netdev wh || nft add table bridge wh"),
            "apt-get install nftables; the kernel needs CONFIG_NF_TABLES",
        ),
        forwarding(),
    ]
}

pub(super) fn node() -> Vec<Check> {
    let wlan = probe::wireless_interfaces();
    let wlan = if wlan.is_empty() {
        Err("no interface of this machine is a wireless one".to_owned())
    } else {
        Ok(wlan.join(", "))
    };
    vec![
        capabilities(&[("CAP_NET_ADMIN", 12), ("CAP_NET_RAW", 13)]),
        tun(),
        Check::useful(
            "wireless interface",
            wlan,
            "plug one in, in IBSS (ad hoc) or mesh mode; a wired interface works too, with acknowledgements of the network \
             layer",
        ),
        Check::useful(
            "transmit status (SO_WIFI_STATUS)",
            probe::transmit_status(),
            "use an interface whose driver reflects the fate of frames, as those on mac80211 do; without it, losses are noticed by passive and network-layer \
             acknowledgements and by Hellos",
        ),
        Check::useful(
            "signal of neighbours",
            probe::signal(),
            "plug in a wireless interface; where its driver has no table of stations, make a monitor interface beside it: `iw \
             dev wlan0 interface add mon0 type monitor && ip link set mon0 up`, and give `signal = \"monitor:mon0\"`",
        ),
        Check::useful(
            "gpsd",
            gpsd(),
            "apt-get install gpsd, for a node that shall know where it is; or `wayhop ctl position`",
        ),
        Check::useful(
            "ip_forward",
            probe::ip_forward(),
            "for protocols that have the kernel forward: `sysctl -w net.ipv4.ip_forward=1`, or leave it to the daemon",
        ),
        Check::useful(
            "this host without traces of killed nodes",
            traces(),
            "`sudo wayhop node --restore` sets it back, and so does the next start of a node at that interface",
        ),
    ]
}

pub(super) fn tools() -> Vec<Check> {
    [
        ("tshark", "tshark", "apt-get install tshark: looks into captures"),
        ("iperf3", "iperf3", "apt-get install iperf3: loads a mesh"),
        ("ping", "ping", "apt-get install iputils-ping"),
        ("ip", "ip", "apt-get install iproute2: shows interfaces and routes"),
        ("gpspipe", "gpspipe", "apt-get install gpsd-clients: shows the positions of emulated nodes"),
        ("ffmpeg", "ffmpeg", "apt-get install ffmpeg: video for a mesh, and for `wayhop reproduce pran`"),
        ("socat", "socat", "apt-get install socat: connections and datagrams, for `wayhop reproduce pran`"),
        ("chromium", "chromium", "apt-get install chromium: shows reports"),
        ("ns-2", "ns", "apt-get install ns2: for comparisons"),
    ]
    .into_iter()
    .map(|(what, program, remedy)| Check::useful(what, in_path(program), remedy))
    .collect()
}

fn capabilities(needed: &[(&str, u32)]) -> Check {
    let missing = probe::missing_capabilities(needed);
    let all: Vec<&str> = needed.iter().map(|(n, _)| *n).collect();
    let found =
        if missing.is_empty() { Ok(all.join(", ")) } else { Err(format!("without {}", missing.join(", "))) };
    Check::needed(
        "root, or its capabilities",
        found,
        "run it with sudo, or as a service with these capabilities",
    )
}

fn tun() -> Check {
    Check::needed(
        "/dev/net/tun",
        probe::tun(),
        "`modprobe tun`; in a container: give it the device /dev/net/tun",
    )
}

fn namespaces() -> Check {
    Check::needed(
        "network namespaces",
        probe::in_namespace("true"),
        "run it with sudo; in a container: give it CAP_SYS_ADMIN; the kernel needs CONFIG_NET_NS",
    )
}

fn forwarding() -> Check {
    Check::needed(
        "forwarding in a namespace",
        probe::in_namespace(
            "test -w /proc/sys/net/ipv4/ip_forward && cat /proc/sys/net/ipv4/ip_forward >/dev/null",
        ),
        "mount /proc/sys writable: in a container, run it privileged or with `--security-opt systempaths=unconfined`",
    )
}

/// What nodes left that were killed together with what sets the host back.
fn traces() -> Result<String, String> {
    let left = wayhop_daemon::left().map_err(|e| e.to_string())?;
    if left.is_empty() {
        return Ok("nothing is left".to_owned());
    }
    Err(format!("{} is as a killed node left it", left.join(", ")))
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
