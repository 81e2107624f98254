//! Three hosts on a wire, with ends that hear only the middle host, which forwards between them.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, BufRead as _, BufReader};
use std::net::Ipv4Addr;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;
use wayhop_control::answer::{Counters, Tables};
use wayhop_control::{Client, Request};
use wayhop_core::Mac;
use wayhop_linux::{Error, interface, syscalls};
use wayhop_netns::Namespace;
use wayhop_netns::order;

use super::figures::{Forwarder, PacketTimes, Throughput};
use super::stream::{NUMBER, Stream};
use super::tap::Tap;

const INTERFACE: &str = "eth1";
const READY: &str = "programs use";
const HOSTS: usize = 3;
const MIDDLE: usize = 1;
const MIDDLE_PORT: &str = "p1";
const PREFIX_LEN: u8 = 24;
const PORT: u16 = 5_001;
const HEADERS: usize = 20 + 8;
/// How long daemons may take to start, a route to be found, a daemon to end.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often a node looks for routes in use, and for those that came to their end.
const LOOKS_EVERY: Duration = Duration::from_millis(100);

pub(super) struct Chain {
    pub(super) way: Forwarder,
    // Before the namespaces: a daemon that ends sets its host back.
    daemons: Vec<Daemon>,
    streams: [Stream; 2],
    tap: Tap,
    hosts: Vec<Namespace>,
    _hub: Namespace,
}

fn address(host: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, host as u8 + 1)
}

impl Chain {
    pub(super) fn new(way: Forwarder) -> Result<Self, Error> {
        let made = || Namespace::new().map_err(Error::system("create a network namespace"));
        let hub = made()?;
        let hosts = (0..HOSTS).map(|_| made()).collect::<Result<Vec<_>, _>>()?;
        wire(&hub, &hosts)
            .map_err(Error::system("create the wire (requires the Debian package iproute2)"))?;
        let daemons = match way.protocol() {
            None => {
                routes(&hosts).map_err(Error::system("set the kernel's routes"))?;
                Vec::new()
            }
            Some(protocol) => {
                let start = |i| Daemon::start(&hosts[i], i, protocol);
                (0..HOSTS).map(start).collect::<Result<_, _>>()?
            }
        };
        let stream = |hops: usize| {
            let port = PORT + hops as u16;
            Stream::open(&hosts[0], address(0), &hosts[hops], address(hops), port)
                .map_err(Error::system("open the sockets of a stream"))
        };
        let streams = [stream(1)?, stream(2)?];
        let tap = Tap::open(&hub, MIDDLE_PORT).map_err(Error::system("open a packet socket"))?;
        Ok(Self { way, daemons, streams, tap, hosts, _hub: hub })
    }

    /// Sends packets of this length over this number of hops.
    pub(super) fn stream(
        &mut self,
        round: usize,
        hops: usize,
        length: usize,
        offered_pps: Option<u32>,
        slice: Duration,
    ) -> Result<Attempt<Throughput>, Error> {
        let payload = self.payload(hops, length);
        self.prime(hops, payload)?;
        let before = self.passed()?;
        let (busy, all_busy) = (self.busy_ns()?, self.all_busy_ns());
        let streamed = self.streams[hops - 1].run(payload, offered_pps, slice);
        let busy = self.busy_ns()?.zip(busy).map(|(after, before)| after - before);
        let all_busy = self.all_busy_ns() - all_busy + streamed.busy_ns;
        let after = self.passed()?;
        if hops == 2
            && let Err(strayed) = self.check(streamed.arrived, &after.since(&before))
        {
            return Ok(Err(strayed));
        }
        let each = busy.filter(|_| hops == 2 && streamed.arrived > 0);
        let inside = self.timing()?.map(|[_, inside]| inside);
        Ok(Ok(Throughput {
            round,
            way: self.way,
            hops,
            length,
            offered_pps,
            input_pps: streamed.input_pps,
            output_pps: streamed.output_pps,
            processor_us: all_busy as f64 / 1e3 / streamed.arrived.max(1) as f64,
            daemon_us: each.map(|ns| ns as f64 / 1e3 / streamed.arrived as f64),
            user_us: inside.filter(|_| hops == 2 && offered_pps.is_none()),
        }))
    }

    /// Sends packets one after the other over two hops, each when the one before has arrived and `pause` is over, and follows
    /// them through the middle.
    pub(super) fn follow(
        &mut self,
        packets: usize,
        length: usize,
        pause: Duration,
    ) -> Result<Attempt<PacketTimes>, Error> {
        let cannot = || Error::system("read the packet socket");
        let payload = self.payload(2, length);
        self.prime(2, payload)?;
        let before = self.passed()?;
        self.tap.passages(length).map_err(cannot())?;
        let mut hops = Vec::new();
        for number in 1..=packets as u64 {
            hops.extend(self.streams[1].one(payload, number));
            if !pause.is_zero() {
                thread::sleep(pause);
            }
        }
        if let Some(other) = hops.iter().find(|h| **h != 2) {
            let way = self.way.name();
            return Ok(Err(format!("{way}: a packet arrived over {other} hops instead of two")));
        }
        let after = self.passed()?;
        if let Err(strayed) = self.check(hops.len() as u64, &after.since(&before)) {
            return Ok(Err(strayed));
        }
        let mut total: Vec<f64> = self
            .tap
            .passages(length)
            .map_err(cannot())?
            .into_values()
            .filter_map(|p| Some((p.out_of? - p.into?) as f64 / 1e3))
            .collect();
        if total.len() < packets / 2 {
            return Ok(Err(format!(
                "{}: only {} of {packets} packets of {length} bytes were seen on both sides of the middle host",
                self.way.name(),
                total.len()
            )));
        }
        total.sort_by(f64::total_cmp);
        let total_us = total[total.len() / 2];
        let parts_us = self.timing()?.map(|[before, inside]| [before, inside, total_us - before - inside]);
        Ok(Ok(PacketTimes { way: self.way, pause, total_us, parts_us }))
    }

    /// The UDP payload that makes packets of this length on the wire.
    fn payload(&self, hops: usize, length: usize) -> usize {
        // RFC 4728, sections 6.1 and 6.7: the fixed part, and a Source Route of the nodes between.
        let dsr = if self.way == Forwarder::Dsr { 4 + 4 + 4 * (hops - 1) } else { 0 };
        length.saturating_sub(HEADERS + dsr).max(NUMBER)
    }

    /// Waits until packets arrive, and have routes that will last.
    fn prime(&self, hops: usize, payload: usize) -> Result<(), Error> {
        let arrives = || self.streams[hops - 1].prime(payload, PATIENCE);
        // While other chains were measured a route of AODV may have come close to its end, so that it ends before the node sees
        // that it is used again. What is there two looks later was renewed, or found again.
        let mut lasts = arrives();
        if lasts && self.way == Forwarder::Aodv {
            thread::sleep(2 * LOOKS_EVERY);
            lasts = arrives();
        }
        if lasts {
            return Ok(());
        }
        Err(Error::System(format!("{:?}: no packets arrive over {hops} hops", self.way)))
    }

    /// Whether what arrived was forwarded where it should have been.
    fn check(&self, arrived: u64, forwarded: &ForwardedCount) -> Attempt<()> {
        let ForwardedCount { kernel, daemon } = *forwarded;
        let (mine, other) = match self.way {
            Forwarder::Dsr => (daemon, kernel),
            Forwarder::Kernel | Forwarder::Aodv => (kernel, daemon),
        };
        if mine >= arrived && other == 0 {
            return Ok(());
        }
        Err(format!(
            "{}: {arrived} packets arrived over two hops, but the middle host's kernel forwarded {kernel} and its daemon \
             {daemon}",
            self.way.name()
        ))
    }

    fn passed(&mut self) -> Result<ForwardedCount, Error> {
        let snmp = self.hosts[MIDDLE]
            .within(|| fs::read_to_string("/proc/thread-self/net/snmp"))
            .map_err(Error::system("read /proc/net/snmp"))?;
        let kernel = forwarded_by_kernel(&snmp)
            .ok_or_else(|| Error::System("/proc/net/snmp has no ForwDatagrams".into()))?;
        let daemon = match self.daemons.get_mut(MIDDLE) {
            Some(d) => d.forwarded()?,
            None => 0,
        };
        Ok(ForwardedCount { kernel, daemon })
    }

    fn busy_ns(&self) -> Result<Option<u64>, Error> {
        self.daemons.get(MIDDLE).map(Daemon::busy_ns).transpose()
    }

    pub(super) fn all_busy_ns(&self) -> u64 {
        self.daemons.iter().filter_map(|d| d.busy_ns().ok()).sum()
    }

    /// Median times of the last packets through the middle's daemon, microseconds: until it had them, and in it.
    fn timing(&mut self) -> Result<Option<[f64; 2]>, Error> {
        match (self.way, self.daemons.get_mut(MIDDLE)) {
            (Forwarder::Dsr, Some(d)) => d.timing().map(Some),
            _ => Ok(None),
        }
    }
}

/// A measurement, or how its packets went another way than the one that was to be measured, in a sentence.
pub(super) type Attempt<T> = Result<T, String>;

#[derive(Copy, Clone)]
struct ForwardedCount {
    kernel: u64,
    daemon: u64,
}

impl ForwardedCount {
    fn since(&self, before: &Self) -> Self {
        Self { kernel: self.kernel - before.kernel, daemon: self.daemon - before.daemon }
    }
}

/// A bridge that learns addresses, as a switch does, and two ports that hear each other's frames no more than hosts
/// out of range do.
fn wire(hub: &Namespace, hosts: &[Namespace]) -> io::Result<()> {
    let mut orders = "link add br0 type bridge mcast_snooping 0\nlink set br0 up\n".to_owned();
    for (i, host) in hosts.iter().enumerate() {
        let mac = Mac::from_addr(address(i));
        let path = format!("/proc/{}/fd/{}", std::process::id(), host.fd());
        let _ = writeln!(orders, "link add p{i} type veth peer name {INTERFACE} address {mac} netns {path}");
        let _ = writeln!(orders, "link set p{i} master br0 up");
        if i != MIDDLE {
            let _ = writeln!(orders, "link set p{i} type bridge_slave isolated on");
        }
    }
    ip(hub, &orders)?;
    hub.within(|| {
        // Where the kernel would, bridged packets pass the firewall's hooks: that is not part of a wire.
        let _ = fs::write("/proc/sys/net/bridge/bridge-nf-call-iptables", "0");
        Ok(())
    })?;
    for host in hosts {
        ip(host, &format!("link set {INTERFACE} up\n"))?;
    }
    Ok(())
}

/// Gives orders of ip(8) in a namespace.
fn ip(host: &Namespace, orders: &str) -> io::Result<()> {
    order(host, "ip", &["-batch", "-"], orders)
}

fn routes(hosts: &[Namespace]) -> io::Result<()> {
    for (i, host) in hosts.iter().enumerate() {
        let mut orders = format!("address add {}/32 dev {INTERFACE}\n", address(i));
        for to in (0..hosts.len()).filter(|to| *to != i) {
            let via = address(if to.abs_diff(i) == 1 { to } else { MIDDLE });
            let _ = writeln!(
                orders,
                "route add {} via {via} dev {INTERFACE} onlink src {}",
                address(to),
                address(i)
            );
        }
        ip(host, &orders)?;
        host.within(|| {
            for (interface, name, value) in [
                (INTERFACE, "forwarding", "1"),
                (INTERFACE, "send_redirects", "0"),
                ("all", "send_redirects", "0"),
            ] {
                fs::write(interface::ipv4_setting(interface, name), value)?;
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// The field of /proc/net/snmp that counts packets of others that the kernel sent on (RFC 1213, ipForwDatagrams).
fn forwarded_by_kernel(snmp: &str) -> Option<u64> {
    let mut lines = snmp.lines().filter_map(|l| l.strip_prefix("Ip: "));
    let at = lines.next()?.split(' ').position(|name| name == "ForwDatagrams")?;
    lines.next()?.split(' ').nth(at)?.parse().ok()
}

/// A daemon. It ends when its pipe does.
struct Daemon {
    child: Child,
    pipe: Option<ChildStdin>,
    client: Client,
    _folder: TempDir,
}

impl Daemon {
    fn start(host: &Namespace, i: usize, protocol: &str) -> Result<Self, Error> {
        let folder = TempDir::with_prefix("wayhop-forwarding-")
            .map_err(Error::system("create a folder for a control socket"))?;
        let mut command = Command::new("/proc/self/exe");
        command.args(["node", "--tied", "--interface", INTERFACE, "--protocol", protocol]);
        command.args(["--address", &format!("{}/{PREFIX_LEN}", address(i))]);
        command.args(["--set", "control=\"node\"", "--set", "timing=true"]);
        command.env("WAYHOP_RUNTIME_DIR", folder.path());
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let cannot = || Error::system(format!("start a daemon with {protocol}"));
        let start = || {
            syscalls::go_first();
            command.spawn()
        };
        let mut child = host.within(start).map_err(cannot())?;
        let pipe = child.stdin.take();
        let ready = child.stderr.take().map_or_else(String::new, first_word);
        let client = match Client::connect(&folder.path().join("node.sock")) {
            Ok(client) if ready.is_empty() => client,
            outcome => {
                drop(pipe);
                let _ = child.kill();
                let _ = child.wait();
                let why = outcome.err().map_or(ready, |e| e.to_string());
                return Err(Error::System(format!("the daemon with {protocol} does not start: {why}")));
            }
        };
        Ok(Self { child, pipe, client, _folder: folder })
    }

    fn forwarded(&mut self) -> Result<u64, Error> {
        let all: Counters = self.ask(Request::Counters {})?;
        let count = all.nodes.first().and_then(|n| n.counters.get("forwarded"));
        count.copied().ok_or_else(|| Error::System("the daemon does not count forwarded packets".into()))
    }

    fn timing(&mut self) -> Result<[f64; 2], Error> {
        let all: Tables = self.ask(Request::Tables { tables: vec!["timing".into()] })?;
        let rows = all.nodes.first().and_then(|n| n.tables.get("timing"));
        let median = |stage: &str| {
            let row = rows?.iter().find(|r| r.get("stage").and_then(Value::as_str) == Some(stage))?;
            row.get("p50_us")?.as_f64()
        };
        match (median("in"), median("process")) {
            (Some(before), Some(inside)) => Ok([before, inside]),
            _ => Err(Error::System("the daemon has no timestamps of its frames".into())),
        }
    }

    fn ask<T: for<'de> serde::Deserialize<'de>>(&mut self, request: Request) -> Result<T, Error> {
        self.client.ask_for(None, request).map_err(|e| Error::System(format!("a daemon: {e}")))
    }

    /// The first number of /proc/PID/schedstat: nanoseconds on a processor.
    fn busy_ns(&self) -> Result<u64, Error> {
        let path = format!("/proc/{}/schedstat", self.child.id());
        let text = fs::read_to_string(&path).map_err(Error::system(format!("read {path}")))?;
        let first = text.split(' ').next().and_then(|n| n.parse().ok());
        first.ok_or_else(|| Error::System(format!("unexpected content of {path}")))
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.pipe = None;
        let begun = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) && begun.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(2));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until a daemon is ready, and goes on reading what it says. Returns its last words if it ended instead.
fn first_word(stderr: impl io::Read + Send + 'static) -> String {
    let (tell, told) = channel();
    thread::spawn(move || {
        let (mut last, mut ready) = (String::new(), false);
        for line in BufReader::new(stderr).lines().map_while(Result::ok) {
            if line.contains(READY) && !ready {
                ready = true;
                let _ = tell.send(String::new());
            }
            last = line;
        }
        let _ = tell.send(last);
    });
    match told.recv_timeout(PATIENCE) {
        Ok(words) => words,
        Err(RecvTimeoutError::Timeout) => "not ready in time".into(),
        Err(RecvTimeoutError::Disconnected) => "no output".into(),
    }
}

/// What the machine's processors do while something is measured.
pub(super) struct Load {
    begun: Instant,
    machine_s: f64,
}

impl Load {
    pub(super) fn begin() -> Self {
        Self { begun: Instant::now(), machine_s: machine_busy_s() - own_busy_s() }
    }

    /// The share of all processors that neither this process nor the chains' daemons used, but somebody did, percent.
    pub(super) fn foreign_pct(&self, chains: &[Chain]) -> f64 {
        let daemons: u64 = chains.iter().map(Chain::all_busy_ns).sum();
        let others_s = machine_busy_s() - own_busy_s() - daemons as f64 / 1e9 - self.machine_s;
        let processors = thread::available_parallelism().map_or(1.0, |n| usize::from(n) as f64);
        (100.0 * others_s / (self.begun.elapsed().as_secs_f64() * processors)).clamp(0.0, 100.0)
    }
}

/// The processors' time that was not idle, seconds: /proc/stat, in hundredths of a second (proc(5)).
fn machine_busy_s() -> f64 {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    let Some(line) = text.lines().next() else { return 0.0 };
    let fields: Vec<f64> = line.split_whitespace().skip(1).filter_map(|f| f.parse().ok()).collect();
    // user, nice, system; idle and iowait are left out; irq, softirq, steal.
    [0, 1, 2, 5, 6, 7].iter().filter_map(|i| fields.get(*i)).sum::<f64>() / 100.0
}

/// This process' own processor time, seconds: `utime` and `stime`, fields 14 and 15 of proc(5);
/// field 2, the name, ends with the last bracket.
fn own_busy_s() -> f64 {
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = text.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks = fields.split_whitespace().skip(11).take(2).filter_map(|f| f.parse::<f64>().ok());
    ticks.sum::<f64>() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_count_is_found_by_its_name() {
        let text = "Ip: Forwarding DefaultTTL InReceives ForwDatagrams InDiscards\nIp: 1 64 100 42 7\nIcmp: InMsgs\nIcmp: 3\n";
        assert_eq!(forwarded_by_kernel(text), Some(42));
        assert_eq!(forwarded_by_kernel("Tcp: ForwDatagrams\nTcp: 4\n"), None);
    }
}
