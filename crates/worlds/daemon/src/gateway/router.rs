//! Makes a host a router between the mesh and an uplink, and nothing else: an nftables table, and
//! forwarding at the uplink.
//!
//! Every change is in the undo list before it is made. The table exists before the host forwards,
//! and is removed afterwards.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use wayhop_core::{Prefix, Time};
use wayhop_linux::listing::LinkInfo;
use wayhop_linux::{Error, interface, nftables};

use crate::config::plan::GatewayPlan;
use crate::gateway::probe::Probe;
use crate::kernel::random::random_seed;
use crate::log::Log;
use crate::node::host::Host;
use crate::undo::{Undo, UndoChange};

/// The setting that has the kernel forward what comes by an interface.
pub(crate) const FORWARDING: &str = "forwarding";

/// A host that is the mesh's router.
pub(crate) struct Router {
    plan: GatewayPlan,
    /// Whether the uplink leads somewhere, if anybody is asked.
    pub(crate) probe: Option<Probe>,
}

impl Router {
    /// Makes the host the mesh's router.
    pub(crate) fn open(plan: GatewayPlan, undo: &mut Undo) -> Result<Self, Error> {
        let uplink = &plan.uplink;
        let path = interface::ipv4_setting(uplink, FORWARDING);
        let forwards = interface::read(&path).map_err(Error::system(format!("read {}", path.display())))?;
        undo.note("", UndoChange::Table(plan.table.clone()))?;
        make(&rules(&plan, forwards == "1"))?;
        undo.set_elsewhere(uplink, FORWARDING, "1")?;
        let drawn = random_seed().map_err(Error::system("get a random number"))?;
        let probe = plan.probe.as_ref().map(|asked| Probe::open(uplink, asked, drawn)).transpose()?;
        Ok(Self { plan, probe })
    }

    /// The interface that leads out.
    pub(crate) fn uplink(&self) -> &str {
        &self.plan.uplink
    }

    /// When to ask somebody by the uplink.
    pub(crate) fn next(&self) -> Option<Time> {
        self.probe.as_ref().map(Probe::next)
    }

    /// Whether what keeps the host from being everybody's router is there, and it forwards.
    ///
    /// # Errors
    /// If somebody took it away: the node leaves.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let GatewayPlan { uplink, table: name, .. } = &self.plan;
        if !nftables::exists(name).map_err(Error::system("list the nftables tables"))? {
            return Err(Error::System(format!(
                "the nftables table {name} was removed, so the node exits: without it this host would \
                 route for anyone. Restart the node, and keep other programs from removing the table (`nft \
                 flush ruleset` does)"
            )));
        }
        let path = interface::ipv4_setting(uplink, FORWARDING);
        match interface::read(&path) {
            Ok(now) if now != "1" => Err(Error::System(format!(
                "forwarding was disabled on {uplink}, or the interface was replaced, so no packets come in \
                 from outside and the node exits; restart it"
            ))),
            _ => Ok(()),
        }
    }

    /// Has the mesh know whether the uplink works: that it is there, up, has a carrier, and that somebody answers by it if anybody is asked.
    pub(crate) fn watch_uplink(&mut self, links: &[LinkInfo], host: &mut Host, log: &Log) {
        let (uplink, mut probe) = (&self.plan.uplink, self.probe.as_mut());
        let is_up = links.iter().any(|l| l.name == *uplink && l.is_up);
        if let Some(p) = &mut probe {
            p.follow(is_up);
        }
        let is_dead = probe.as_ref().is_some_and(|p| p.is_dead());
        if !host.open_way_out(is_up && !is_dead) {
            return;
        }
        let whom = probe.as_ref().map(|p| p.whom()).unwrap_or_default();
        let was_dead = probe.is_some_and(|p| std::mem::replace(&mut p.told_dead, is_up && is_dead));
        let news = match (is_up, is_dead) {
            (false, _) => format!("{uplink} is down: the gateway is offline"),
            (true, true) => format!("no answers through {uplink} from {whom}: the gateway is offline"),
            (true, false) if was_dead => {
                format!("answers through {uplink} again from {whom}: the gateway is online")
            }
            (true, false) => format!("{uplink} is up: the gateway is online"),
        };
        log.warning(news);
    }
}

/// The kernel's number of the uplink's interface.
pub(crate) fn uplink_index(uplink: &str) -> Result<u32, Error> {
    let found = interface::facts(uplink).map_err(|e| {
        Error::Config(format!(
            "gateway.uplink: interface {uplink}: {e}; `ip link` lists the interfaces of this host"
        ))
    })?;
    Ok(found.index)
}

pub(crate) fn check_nft() -> Result<(), Error> {
    let mut nft = Command::new("nft");
    let outcome =
        nft.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    outcome.map(drop).map_err(Error::system("start nft, which a gateway needs (Debian: nftables)"))
}

/// Has `nft` make a table.
fn make(rules: &str) -> Result<(), Error> {
    let run = || {
        let mut nft = Command::new("nft")
            .args(["-f", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        if let Some(mut to) = nft.stdin.take() {
            to.write_all(rules.as_bytes())?;
        }
        nft.wait_with_output()
    };
    let out = run().map_err(|e| {
        Error::System(format!("a gateway needs `nft` ({e}); install it: apt-get install nftables"))
    })?;
    if out.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&out.stderr);
    Err(Error::System(format!(
        "nft rejected the gateway's rules: {}",
        said.lines().next().unwrap_or("no reason")
    )))
}

/// The rules. `forwards`: whether the host forwards already what comes by the uplink; then that is not this node's to limit.
fn rules(plan: &GatewayPlan, forwards: bool) -> String {
    let GatewayPlan { uplink, mesh_side, outside, table: name, .. } = plan;
    let quoted = |names: &mut dyn Iterator<Item = &String>| {
        names.map(|n| format!("\"{n}\"")).collect::<Vec<_>>().join(", ")
    };
    let all = quoted(&mut mesh_side.iter().chain([uplink]));
    let mesh_side = quoted(&mut mesh_side.iter());
    let mesh = outside.mesh;
    let reaches = outside.reaches.iter().map(net).collect::<Vec<_>>().join(", ");
    let mut text = format!(
        "table ip {name}\ndelete table ip {name}\ntable ip {name} {{\n chain forward {{\n  type filter hook forward priority filter; policy accept;\n"
    );
    // From the mesh: with an address of the mesh, by the uplink, to what the gateway reaches.
    _ = writeln!(text, "  iifname {{ {mesh_side} }} oifname != {{ {all} }} drop");
    _ = writeln!(text, "  iifname {{ {mesh_side} }} oifname \"{uplink}\" ip saddr != {} drop", net(&mesh));
    if outside.reaches.iter().all(|p| p.len > 0) {
        let elsewhere = format!("ip daddr != {{ {reaches} }} drop");
        _ = writeln!(text, "  iifname {{ {mesh_side} }} oifname \"{uplink}\" {elsewhere}");
    }
    // To the mesh: by the uplink, from outside; with translation, what belongs to a connection that began in the mesh.
    _ = writeln!(text, "  oifname {{ {mesh_side} }} iifname != {{ {all} }} drop");
    _ = writeln!(text, "  iifname \"{uplink}\" oifname {{ {mesh_side} }} ip saddr {} drop", net(&mesh));
    if plan.translate {
        let known = "ct state != { established, related }";
        _ = writeln!(text, "  iifname \"{uplink}\" oifname {{ {mesh_side} }} {known} drop");
    }
    if !forwards {
        _ = writeln!(text, "  iifname \"{uplink}\" oifname != {{ {mesh_side} }} drop");
    }
    text.push_str(" }\n");
    if plan.translate {
        _ = write!(
            text,
            " chain postrouting {{\n  type nat hook postrouting priority srcnat; policy accept;\n  \
             oifname \"{uplink}\" ip saddr {} masquerade\n }}\n",
            net(&mesh)
        );
    }
    text.push_str("}\n");
    text
}

/// A prefix in the words of nft.
fn net(p: &Prefix) -> String {
    format!("{}/{}", p.addr, p.len)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::plan::Plans;
    use crate::config::settings::Settings;

    fn settings(more: &str) -> Settings {
        let text = format!(
            "interface = \"wlan0\"\naddress = \"10.0.0.1/16\"\nprotocol.name = \"dsr\"\ntun = \"mesh-0\"\n[gateway]\nuplink = \"eth0\"\n{more}"
        );
        Settings::from_text(&text).expect("a configuration")
    }

    fn text(more: &str, forwards: bool) -> String {
        let plan = Plans::of(&settings(more), 0).expect("a plan");
        rules(&plan.gateway.expect("a gateway"), forwards)
    }

    #[test]
    fn a_gateway_lets_the_mesh_out_by_the_uplink_and_answers_in_and_nothing_else() {
        let all = text("", false);
        for line in [
            "table ip wayhop_mesh_0 {",
            "iifname { \"wlan0\", \"mesh-0\" } oifname != { \"wlan0\", \"mesh-0\", \"eth0\" } drop",
            "iifname { \"wlan0\", \"mesh-0\" } oifname \"eth0\" ip saddr != 10.0.0.0/16 drop",
            "oifname \"eth0\" ip saddr 10.0.0.0/16 masquerade",
            "ct state != { established, related } drop",
            "iifname \"eth0\" oifname != { \"wlan0\", \"mesh-0\" } drop",
        ] {
            assert!(all.contains(line), "{line}: {all}");
        }
        // A host that routes already goes on; without translation connections begin outside, too.
        let routed = text("translate = false\nreaches = [\"192.0.2.0/24\"]", true);
        for absent in ["masquerade", "ct state", "iifname \"eth0\" oifname !="] {
            assert!(!routed.contains(absent), "{absent}: {routed}");
        }
        assert!(routed.contains("ip daddr != { 192.0.2.0/24 } drop"), "{routed}");
    }

    #[test]
    fn what_no_gateway_can_be_is_refused_by_key() {
        let head = "interface = \"wlan0\"\naddress = \"10.0.0.1/16\"\nprotocol.name = \"dsr\"\n";
        for (more, key) in [
            ("[gateway]\nuplink = \"wlan0\"", "gateway.uplink"),
            ("[gateway]\nuplink = \"mesh0\"", "gateway.uplink"),
            ("[gateway]\nuplink = \"e*\"", "gateway.uplink"),
            ("[gateway]\nuplink = \"eth0\"\nreaches = []", "gateway.reaches"),
            ("[gateway]\nuplink = \"eth0\"\nreaches = [\"10.0.4.0/24\"]", "gateway.reaches[0]"),
            ("[gateway]\nuplink = \"eth0\"\nreaches = [\"::/0\"]", "gateway.reaches[0]"),
            ("[gateway]\nuplink = \"eth0\"\nprobe = [\"10.0.4.1\"]", "gateway.probe[0]"),
            ("[gateway]\nuplink = \"eth0\"\nprobe = [\"192.0.2.1\", \"224.0.0.1\"]", "gateway.probe[1]"),
            (
                "[gateway]\nuplink = \"eth0\"\nprobe = [\"192.0.2.1\"]\nprobe_every_ms = 99",
                "gateway.probe_every_ms: 99 ms",
            ),
            (
                "[gateway]\nuplink = \"eth0\"\nprobe = [\"192.0.2.1\"]\nprobe_misses = 0",
                "gateway.probe_misses: 0",
            ),
            (
                "[gateway]\nuplink = \"eth0\"\nprobe_misses = 5",
                "gateway.probe_misses: there are no addresses to ping",
            ),
            ("outside = [\"nowhere\"]", "outside[0]"),
            ("outside = [\"0.0.0.0/0\"]\n[gateway]\nuplink = \"eth0\"", "outside"),
        ] {
            let said = Settings::from_text(&format!("{head}{more}")).expect_err("this is wrong").to_string();
            assert!(said.contains(key), "{more}: {said}");
        }
    }
}
