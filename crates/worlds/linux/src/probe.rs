//! This host's capabilities for a node.
//!
//! A probe returns what it found or what is missing, in words for people.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::Path;

use crate::wifi;

/// Which of these capabilities, by name and number (capabilities(7)), this process does not have.
pub fn missing_capabilities<'a>(needed: &[(&'a str, u32)]) -> Vec<&'a str> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let held = status
        .lines()
        .find_map(|l| l.strip_prefix("CapEff:"))
        .and_then(|v| u64::from_str_radix(v.trim(), 16).ok())
        .unwrap_or(0);
    needed.iter().filter(|(_, bit)| held >> bit & 1 == 0).map(|(n, _)| *n).collect()
}

/// Whether TUN interfaces can be made.
pub fn tun() -> Result<String, String> {
    let open = OpenOptions::new().read(true).write(true).open("/dev/net/tun");
    open.map(|_| "opens".to_owned()).map_err(|e| e.to_string())
}

/// Whether the kernel forwards IPv4.
pub fn ip_forward() -> Result<String, String> {
    match fs::read_to_string("/proc/sys/net/ipv4/ip_forward") {
        Ok(v) if v.trim() == "1" => Ok("on".to_owned()),
        Ok(_) => Err("off".to_owned()),
        Err(e) => Err(e.to_string()),
    }
}

/// How many files this process may have open, if that is enough for a large emulation.
pub fn open_files() -> Result<String, String> {
    const WANTED: u64 = 4096;
    let limits = fs::read_to_string("/proc/self/limits").map_err(|e| e.to_string())?;
    let line = limits.lines().find_map(|l| l.strip_prefix("Max open files")).unwrap_or_default();
    let soft = line.split_whitespace().next().unwrap_or("unknown");
    match soft.parse::<u64>() {
        Ok(n) if n < WANTED => Err(format!("at most {n}")),
        _ => Ok(format!("at most {soft}")),
    }
}

/// The names of interfaces that the kernel describes so in a folder.
fn interfaces(are: impl Fn(&Path) -> bool) -> impl Iterator<Item = String> {
    let all = fs::read_dir("/sys/class/net").into_iter().flatten().filter_map(Result::ok);
    all.filter(move |e| are(&e.path())).map(|e| e.file_name().to_string_lossy().into_owned())
}

/// The names of wireless interfaces.
pub fn wireless_interfaces() -> Vec<String> {
    let is_wireless = |of: &Path| of.join("phy80211").exists() || of.join("wireless").exists();
    let mut names: Vec<String> = interfaces(is_wireless).collect();
    names.sort();
    names
}

/// Which wireless interfaces have a driver that tells what became of frames, by asking it.
pub fn transmit_status() -> Result<String, String> {
    let all = wireless_interfaces();
    if all.is_empty() {
        return Err("no wireless interface".to_owned());
    }
    let mut with = Vec::new();
    let mut without = Vec::new();
    for name in all {
        match transmit_status_of(&name) {
            Ok(Some(true)) => with.push(name),
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

fn transmit_status_of(interface: &str) -> io::Result<Option<bool>> {
    let index = fs::read_to_string(format!("/sys/class/net/{interface}/ifindex"))?;
    wifi::reports_transmit_status(index.trim().parse().unwrap_or(0))
}

/// Where nodes learn how strongly neighbours are received.
pub fn signal() -> Result<String, String> {
    let drivers: Vec<String> =
        wireless_interfaces().into_iter().filter(|i| matches!(transmit_status_of(i), Ok(Some(_)))).collect();
    // ARPHRD_IEEE80211_RADIOTAP (linux/if_arp.h).
    let is_monitor = |of: &Path| fs::read_to_string(of.join("type")).is_ok_and(|t| t.trim() == "803");
    let monitors = interfaces(is_monitor).map(|name| format!("monitor:{name}"));
    let by_driver = (!drivers.is_empty()).then(|| format!("nl80211 for {}", drivers.join(", ")));
    let found: Vec<String> = by_driver.into_iter().chain(monitors).collect();
    if found.is_empty() {
        Err("neither nl80211 nor a monitor interface".to_owned())
    } else {
        Ok(found.join("; "))
    }
}
