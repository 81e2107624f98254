//! The checks. What can be tried is tried, in a network namespace that ends with the trial.

use std::fs::{self, OpenOptions};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::time::Duration;

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
            open_files(),
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
            in_namespace("ip link add wh0 type veth peer name wh1 && ip link add wh2 type bridge"),
            "apt-get install iproute2; load the modules veth and bridge: `modprobe veth bridge`",
        ),
        Check::needed(
            "nftables",
            in_namespace("nft add table netdev wh || nft add table bridge wh"),
            "apt-get install nftables; the kernel needs CONFIG_NF_TABLES",
        ),
        forwarding(),
    ]
}

pub(super) fn node() -> Vec<Check> {
    let wlan = wireless_interfaces();
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
            transmit_status(),
            "use an interface whose driver reflects the fate of frames, as those on mac80211 do; without it, losses are noticed by passive and network-layer \
             acknowledgements and by Hellos",
        ),
        Check::useful(
            "signal of neighbours",
            signal(),
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
            match fs::read_to_string("/proc/sys/net/ipv4/ip_forward") {
                Ok(v) if v.trim() == "1" => Ok("on".to_owned()),
                Ok(_) => Err("off".to_owned()),
                Err(e) => Err(e.to_string()),
            },
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
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let held = status
        .lines()
        .find_map(|l| l.strip_prefix("CapEff:"))
        .and_then(|v| u64::from_str_radix(v.trim(), 16).ok())
        .unwrap_or(0);
    let missing: Vec<&str> = needed.iter().filter(|(_, bit)| held >> bit & 1 == 0).map(|(n, _)| *n).collect();
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
    let open = OpenOptions::new().read(true).write(true).open("/dev/net/tun");
    Check::needed(
        "/dev/net/tun",
        open.map(|_| "opens".to_owned()).map_err(|e| e.to_string()),
        "`modprobe tun`; in a container: give it the device /dev/net/tun",
    )
}

fn namespaces() -> Check {
    Check::needed(
        "network namespaces",
        in_namespace("true"),
        "run it with sudo; in a container: give it CAP_SYS_ADMIN; the kernel needs CONFIG_NET_NS",
    )
}

fn forwarding() -> Check {
    Check::needed(
        "forwarding in a namespace",
        in_namespace("test -w /proc/sys/net/ipv4/ip_forward && cat /proc/sys/net/ipv4/ip_forward >/dev/null"),
        "mount /proc/sys writable: in a container, run it privileged or with `--security-opt systempaths=unconfined`",
    )
}

/// Runs a shell line in a network namespace of its own.
fn in_namespace(line: &str) -> Result<String, String> {
    let run = Command::new("unshare")
        .args(["--net", "--", "sh", "-c", line])
        .stdin(Stdio::null())
        .output()
        .map_err(|e| format!("cannot try: unshare (Debian package util-linux): {e}"))?;
    if run.status.success() {
        return Ok("tried, works".to_owned());
    }
    let said = String::from_utf8_lossy(&run.stderr);
    let first = said.lines().find(|l| !l.trim().is_empty()).unwrap_or("tried, fails");
    Err(first.chars().map(|c| if c.is_control() { ' ' } else { c }).take(160).collect())
}

fn open_files() -> Result<String, String> {
    const WANTED: u64 = 4096;
    let limits = fs::read_to_string("/proc/self/limits").map_err(|e| e.to_string())?;
    let line = limits.lines().find_map(|l| l.strip_prefix("Max open files")).unwrap_or_default();
    let soft = line.split_whitespace().next().unwrap_or("unknown");
    match soft.parse::<u64>() {
        Ok(n) if n < WANTED => Err(format!("at most {n}")),
        _ => Ok(format!("at most {soft}")),
    }
}

fn wireless_interfaces() -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir("/sys/class/net")
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .filter(|e| e.path().join("phy80211").exists() || e.path().join("wireless").exists())
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Which wireless interfaces have a driver that tells what became of frames, by asking it.
fn transmit_status() -> Result<String, String> {
    let all = wireless_interfaces();
    if all.is_empty() {
        return Err("no wireless interface".to_owned());
    }
    let mut with = Vec::new();
    let mut without = Vec::new();
    for name in all {
        match capabilities_of(&name) {
            Ok(Some(c)) if c.transmit_status => with.push(name),
            Ok(_) => without.push(name),
            Err(e) => without.push(format!("{name} ({e})")),
        }
    }
    match (with.is_empty(), without.is_empty()) {
        (false, true) => Ok(with.join(", ")),
        (false, false) => Ok(format!("{}; not {}", with.join(", "), without.join(", "))),
        (true, _) => Err(format!("not by {}", without.join(", "))),
    }
}

fn capabilities_of(interface: &str) -> std::io::Result<Option<wayhop_linux::wifi::Capabilities>> {
    let index = fs::read_to_string(format!("/sys/class/net/{interface}/ifindex"))?;
    wayhop_linux::wifi::capabilities(index.trim().parse().unwrap_or(0))
}

/// Where nodes learn how strongly neighbours are received.
fn signal() -> Result<String, String> {
    let drivers: Vec<String> =
        wireless_interfaces().into_iter().filter(|i| matches!(capabilities_of(i), Ok(Some(_)))).collect();
    let monitors: Vec<String> = fs::read_dir("/sys/class/net")
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        // ARPHRD_IEEE80211_RADIOTAP (linux/if_arp.h).
        .filter(|e| fs::read_to_string(e.path().join("type")).is_ok_and(|t| t.trim() == "803"))
        .map(|e| format!("monitor:{}", e.file_name().to_string_lossy()))
        .collect();
    let by_driver = (!drivers.is_empty()).then(|| format!("nl80211 for {}", drivers.join(", ")));
    let found: Vec<String> = by_driver.into_iter().chain(monitors).collect();
    if found.is_empty() {
        Err("neither nl80211 nor a monitor interface".to_owned())
    } else {
        Ok(found.join("; "))
    }
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
