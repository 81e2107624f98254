//! The roving node of Maltz, Broch and Johnson (1999, section 4.2): it leaves its home LAN for another one, for a slow cellular link and for a
//! mesh, and comes back, with one ssh session and one ping throughout. tshark judges every message.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::mesh::{WAYHOP, may_run, skip_without_root};

/// A wire of a given bit rate between two namespaces: two TUN interfaces, and a program between
/// them that delays each packet by its transmission time.
const SLOW_WIRE: &str = r"
import ctypes, fcntl, os, struct, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
def tun(ns, name):
    fd = os.open(f'/run/netns/{ns}', os.O_RDONLY)
    assert libc.setns(fd, 0x40000000) == 0, 'setns'
    os.close(fd)
    t = os.open('/dev/net/tun', os.O_RDWR)
    fcntl.ioctl(t, 0x400454ca, struct.pack('16sH22x', name.encode(), 0x1001))
    return t
rate = float(sys.argv[1])
a, b = tun(sys.argv[2], sys.argv[3]), tun(sys.argv[4], sys.argv[5])
def pump(src, dst):
    free = 0.0
    while True:
        try:
            p = os.read(src, 65536)
            free = max(free, time.monotonic()) + len(p) * 8 / rate
            time.sleep(max(0.0, free - time.monotonic()))
            os.write(dst, p)
        except OSError:
            time.sleep(0.05)
threading.Thread(target=pump, args=(a, b), daemon=True).start()
pump(b, a)
";

/// Of the paper's cellular modem (section 4.3).
const CELLULAR_BIT_S: &str = "11000";
const KEY: &str = "00112233445566778899aabbccddeeff";
const WAIT: Duration = Duration::from_secs(60);

/// The hosts: home agent, a peer on the home LAN, a router in the Internet, foreign agent, a car of the mesh, the mobile node; and the air, which has
/// the LANs' bridges.
const HOSTS: [&str; 7] = ["home", "peer", "router", "foreign", "car", "mobile", "air"];

pub(crate) struct World {
    name: String,
    folder: TempDir,
    pub(crate) programs: Vec<(String, Child)>,
}

impl World {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("whr{}x{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let mut world = Self { name, folder, programs: Vec::new() };
        for host in HOSTS {
            ip(&format!("netns add {}", world.host(host)));
            world.ip(host, "link set lo up");
        }
        for lan in ["lan", "other", "sky"] {
            world.ip("air", &format!("link add {lan} type bridge ageing_time 0 mcast_snooping 0"));
            world.ip("air", &format!("link set {lan} up"));
        }
        world.plug("home", "lan0", "lan");
        world.plug("peer", "eth0", "lan");
        world.plug("mobile", "wlan0", "lan");
        world.plug("foreign", "lan0", "other");
        world.wire("home", "up0", "10.3.0.2/24", "10.3.0.1/24");
        world.wire("foreign", "up0", "10.4.0.2/24", "10.4.0.1/24");
        for (host, address) in [("home", "10.1.0.1/24"), ("foreign", "10.8.0.1/24")] {
            world.ip(host, &format!("addr add {address} dev lan0"));
        }
        world.ip("peer", "addr add 10.1.0.2/24 dev eth0");
        for host in ["home", "router", "foreign"] {
            let (ok, said) = world.run(host, "sysctl -qw net.ipv4.ip_forward=1");
            assert!(ok, "{said}");
        }
        world.cellular();
        world.ip("peer", "route add default via 10.1.0.1");
        world.ip("home", "route add default via 10.3.0.1");
        world.ip("foreign", "route add default via 10.4.0.1");
        world.ip("router", "route add 10.1.0.0/24 via 10.3.0.2");
        world
    }

    /// The slow link, and the mobile node's default route by it.
    fn cellular(&mut self) {
        let file = self.file("slow_wire.py");
        fs::write(&file, SLOW_WIRE).unwrap();
        let mut wire = Command::new("python3");
        wire.arg(file).arg(CELLULAR_BIT_S).args([
            &self.host("mobile"),
            "cell0",
            &self.host("router"),
            "cell0",
        ]);
        self.programs.push(("slow wire".to_owned(), wire.spawn().unwrap()));
        for (host, address) in [("mobile", "10.5.0.2/24"), ("router", "10.5.0.1/24")] {
            self.until("the cellular link is there", |w| w.run(host, "ip link show cell0").0);
            self.ip(host, &format!("addr add {address} dev cell0"));
            // A modem's queue: some packets.
            self.ip(host, "link set cell0 up txqueuelen 10");
        }
        self.ip("mobile", "route add default via 10.5.0.1");
    }

    fn host(&self, host: &str) -> String {
        format!("{}{host}", self.name)
    }
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
    pub(crate) fn ip(&self, host: &str, arguments: &str) {
        ip(&format!("-n {} {arguments}", self.host(host)));
    }
    pub(crate) fn run(&self, host: &str, command: &str) -> (bool, String) {
        let done = Command::new("ip")
            .args(["netns", "exec", &self.host(host)])
            .args(command.split(' '))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&done.stdout) + String::from_utf8_lossy(&done.stderr);
        (done.status.success(), said.into_owned())
    }

    /// An interface of a host on a LAN; without a name of one, on none yet.
    pub(crate) fn plug(&self, host: &str, interface: &str, lan: &str) {
        let air = self.host("air");
        self.ip(host, &format!("link add {interface} type veth peer name {host}{interface} netns {air}"));
        self.ip(host, &format!("link set {interface} up"));
        self.ip("air", &format!("link set {host}{interface} up master {lan}"));
    }
    /// A host's wire to the router.
    pub(crate) fn wire(&self, host: &str, interface: &str, own: &str, of_router: &str) {
        let router = self.host("router");
        self.ip(host, &format!("link add {interface} type veth peer name {host} netns {router}"));
        self.ip(host, &format!("link set {interface} up"));
        self.ip(host, &format!("addr add {own} dev {interface}"));
        self.ip("router", &format!("link set {host} up"));
        self.ip("router", &format!("addr add {of_router} dev {host}"));
    }
    /// The mobile node's WLAN reaches this LAN from now on, or none. It sees no difference but by what it hears.
    pub(crate) fn walk(&self, lan: Option<&str>) {
        let to = lan.map_or("nomaster".to_owned(), |lan| format!("master {lan}"));
        self.ip("air", &format!("link set mobilewlan0 {to}"));
    }

    /// Starts a program at a host; what it says goes to a file.
    pub(crate) fn start(&mut self, host: &str, program: &str, arguments: &[&str]) {
        let log = File::create(self.log(program)).unwrap();
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.host(host)]).args(arguments);
        // Each host has its own folder for undo lists: they share one disk here.
        command.env("WAYHOP_RUNTIME_DIR", self.file(&format!("run-{host}")));
        command.env("WAYHOP_STATE_DIR", self.file(&format!("state-{host}")));
        let out = log.try_clone().unwrap();
        let child = command.stdin(Stdio::null()).stdout(out).stderr(log).spawn().unwrap();
        self.programs.push((program.to_owned(), child));
    }
    fn log(&self, program: &str) -> PathBuf {
        self.file(&format!("{program}.log"))
    }
    pub(crate) fn said(&self, program: &str) -> String {
        fs::read_to_string(self.log(program)).unwrap_or_default()
    }
    /// Starts a role of Mobile IP with this configuration.
    pub(crate) fn start_role(&mut self, host: &str, role: &str, config: &str) {
        let file = self.file(&format!("{role}.toml"));
        fs::write(&file, config).unwrap();
        self.start(host, role, &[WAYHOP, "mobile-ip", role, file.to_str().unwrap()]);
        self.until("it begins", |w| w.said(role).contains("begins: "));
    }
    /// Ends a program in good order.
    pub(crate) fn stop(&mut self, program: &str) {
        let at = self.programs.iter().position(|(name, _)| name == program).unwrap();
        let (_, mut child) = self.programs.remove(at);
        assert!(child.try_wait().unwrap().is_none(), "{program} has ended: {}", self.said(program));
        assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
        let status = child.wait().unwrap();
        assert!(
            status.success() || program.starts_with("capture"),
            "{program}: {status}: {}",
            self.said(program)
        );
    }
    pub(crate) fn until(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let begun = Instant::now();
        while !is_so(self) {
            if begun.elapsed() > WAIT {
                let mut logs = String::new();
                for (name, _) in &self.programs {
                    let _ = writeln!(logs, "--- {name}\n{}", self.said(name));
                }
                panic!("not within {WAIT:?}: {what}\n{logs}");
            }
            sleep(Duration::from_millis(20));
        }
    }

    /// A radio in the sky for each of these hosts, each of which hears the next and the one before only, and a node on it.
    pub(crate) fn mesh(&mut self, hosts: &[&str], protocol: &str) {
        self.mesh_with(hosts, protocol, &[]);
    }
    /// The same, with these settings of single hosts.
    fn mesh_with(&mut self, hosts: &[&str], protocol: &str, settings: &[(&str, &str)]) {
        let mac = |i: usize| format!("02:00:0a:09:00:{:02x}", i + 1);
        let mut rules =
            "table bridge wayhop {\n chain apart {\n type filter hook forward priority 0;\n".to_owned();
        for (to, host) in hosts.iter().enumerate() {
            self.plug(host, "radio0", "sky");
            self.ip(host, &format!("link set radio0 address {}", mac(to)));
            for from in (0..hosts.len()).filter(|from| from.abs_diff(to) > 1) {
                let _ = writeln!(rules, " oifname \"{host}radio0\" ether saddr {} drop", mac(from));
            }
        }
        let file = self.file("apart.nft");
        fs::write(&file, rules + " }\n}\n").unwrap();
        let (ok, said) = self.run("air", &format!("nft -f {}", file.display()));
        assert!(ok, "{said}");
        for (i, host) in hosts.iter().enumerate() {
            let (program, address) = (format!("mesh-{host}"), format!("10.9.0.{}/24", i + 1));
            let mut arguments =
                vec![WAYHOP, "node", "--interface", "radio0", "--address", &address, "--protocol", protocol];
            let own = settings.iter().filter(|(of, _)| of == host);
            arguments.extend(own.flat_map(|(_, setting)| ["--set", setting]));
            self.start(host, &program, &arguments);
            self.until("the mesh's node is ready", |w| w.said(&program).contains("programs use mesh0"));
        }
    }

    /// Captures at an interface of a host, until it is stopped.
    fn capture(&mut self, host: &str, interface: &str) {
        let name = format!("capture-{host}-{interface}");
        let file = self.file(&format!("{name}.pcapng"));
        // Of the ssh session only the headers; of Mobile IP all.
        self.start(host, &name, &["dumpcap", "-q", "-i", interface, "-w", file.to_str().unwrap()]);
        self.until("dumpcap captures", |w| w.said(&name).contains("File: "));
    }
    /// Fields of the frames of a capture that pass a display filter, by tshark.
    fn frames(&self, capture: &str, filter: &str, fields: &[&str]) -> Vec<Vec<String>> {
        let file = self.file(&format!("capture-{capture}.pcapng"));
        let mut tshark = Command::new("tshark");
        tshark.args(["-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE", "-r"]).arg(file);
        tshark.args(["-Y", filter, "-T", "fields"]);
        tshark.args(fields.iter().flat_map(|f| ["-e", f]));
        let done = tshark.output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let text = String::from_utf8(done.stdout).unwrap();
        text.lines().map(|l| l.split('\t').map(str::to_owned).collect()).collect()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        for (_, mut child) in self.programs.drain(..).rev() {
            let _ = child.kill();
            let _ = child.wait();
        }
        for host in HOSTS {
            // What a test that failed left there: ssh and the daemon's session.
            if let Ok(left) = Command::new("ip").args(["netns", "pids", &self.host(host)]).output() {
                for process in String::from_utf8_lossy(&left.stdout).lines() {
                    let _ = Command::new("kill").args(["-KILL", process]).status();
                }
            }
            let _ = Command::new("ip").args(["netns", "del", &format!("{}{host}", self.name)]).output();
        }
    }
}

fn ip(arguments: &str) {
    let done = Command::new("ip").args(arguments.split(' ')).output().unwrap();
    assert!(done.status.success(), "ip {arguments}: {}", String::from_utf8_lossy(&done.stderr));
}

pub(crate) fn home_agent() -> String {
    format!(
        "interface = \"lan0\"\naddress = \"10.1.0.1/24\"\nuplinks = [\"up0\"]\n\
         [[mobiles]]\naddress = \"10.1.0.9\"\nspi = 256\nkey = \"{KEY}\"\n"
    )
}

/// Its links: interface, kind, and more lines.
pub(crate) fn mobile_node(links: &[(&str, &str, &str)]) -> String {
    let mut text = format!(
        "home = \"10.1.0.9/24\"\nhome_agent = \"10.1.0.1\"\nspi = 256\nkey = \"{KEY}\"\nlog = \"debug\"\n"
    );
    for (interface, kind, more) in links {
        let _ = writeln!(text, "[[links]]\ninterface = \"{interface}\"\nkind = \"{kind}\"\n{more}");
    }
    text
}

/// A session of the peer's ssh with the mobile node's sshd: each line that goes there comes back.
struct Session {
    ssh: Child,
    to: ChildStdin,
    from: Receiver<String>,
    said: u32,
}

impl Session {
    fn open(world: &mut World) -> Self {
        fs::create_dir_all("/run/sshd").unwrap();
        for name in ["client", "server"] {
            let mut make = Command::new("ssh-keygen");
            make.args(["-q", "-t", "ed25519", "-N", "", "-C", "test", "-f"]).arg(world.file(name));
            assert!(make.status().expect("ssh-keygen (.ci/install test)").success());
        }
        let here = world.folder.path().display().to_string();
        let text = format!(
            "Port 22\nHostKey {here}/server\nAuthorizedKeysFile {here}/client.pub\nPidFile none\nUsePAM no\nStrictModes no\n\
             PermitRootLogin prohibit-password\n"
        );
        fs::write(world.file("sshd.conf"), text).unwrap();
        world.start("mobile", "sshd", &["/usr/sbin/sshd", "-D", "-f", &format!("{here}/sshd.conf")]);
        world.until("sshd listens", |w| w.run("mobile", "ss -Hltn sport = :22").1.contains(":22"));
        let key = fs::read_to_string(world.file("server.pub")).unwrap();
        fs::write(world.file("known"), format!("10.1.0.9 {key}")).unwrap();
        let mut ssh = Command::new("ip");
        ssh.args([
            "netns",
            "exec",
            &world.host("peer"),
            "ssh",
            "-F",
            "none",
            "-T",
            "-i",
            &format!("{here}/client"),
        ]);
        ssh.args([
            "-o",
            &format!("UserKnownHostsFile={here}/known"),
            "-o",
            "IdentityAgent=none",
            "root@10.1.0.9",
            "cat",
        ]);
        let mut ssh = ssh.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (to, out) = (ssh.stdin.take().unwrap(), ssh.stdout.take().unwrap());
        let (line, from) = channel();
        std::thread::spawn(move || {
            BufReader::new(out).lines().map_while(Result::ok).for_each(|l| drop(line.send(l)));
        });
        let mut session = Self { ssh, to, from, said: 0 };
        session.says();
        session
    }

    /// A line goes there and comes back.
    fn says(&mut self) {
        self.said += 1;
        let line = format!("line {}", self.said);
        writeln!(self.to, "{line}").unwrap();
        assert_eq!(self.from.recv_timeout(WAIT).expect("the ssh session goes on"), line);
    }

    fn close(mut self) {
        drop(self.to);
        assert!(self.ssh.wait().unwrap().success());
    }
}

/// When each reply came to the peer's ping, seconds of the clock, by its sequence number.
fn replies(said: &str) -> Vec<(u32, f64)> {
    let one = |l: &str| {
        let at = l.strip_prefix('[')?.split(']').next()?.parse().ok()?;
        let seq = l.split("icmp_seq=").nth(1)?.split(' ').next()?.parse().ok()?;
        l.contains("bytes from").then_some((seq, at))
    };
    said.lines().filter_map(one).collect()
}

/// The ping's figures for each move: when it began, the longest pause between two replies up to the
/// next one, and packets lost in it.
fn report(said: &str, moves: &[(&str, f64)]) -> String {
    let replies = replies(said);
    let mut text = String::new();
    for (i, (name, began)) in moves.iter().enumerate() {
        let until = moves.get(i + 1).map_or(f64::MAX, |m| m.1);
        let first = replies.iter().rposition(|(_, at)| at < began).unwrap_or(0);
        let pairs = replies[first..].windows(2).filter(|p| p[1].1 < until);
        let gap = pairs.max_by(|a, b| (a[1].1 - a[0].1).total_cmp(&(b[1].1 - b[0].1)));
        if let Some([before, after]) = gap {
            let lost = after.0.saturating_sub(before.0 + 1);
            let _ =
                writeln!(text, "{name}: {:.2} s without a reply, {lost} packets lost", after.1 - before.1);
        }
    }
    text
}

fn now() -> f64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs_f64()
}

/// The node has said so often that it is attached like this.
pub(crate) fn attached(world: &World, how: &str, times: usize) {
    world.until(how, |w| w.said("node").matches(how).count() >= times);
}

pub(crate) const AT_HOME: &str = "attached at home by wlan0";
pub(crate) const ON_OTHER_LAN: &str = "attached by wlan0, foreign agent 10.8.0.1";
pub(crate) const IN_MESH: &str = "attached by mesh0, foreign agent 10.9.0.3";
pub(crate) const CELLULAR: &str = "attached by cell0, co-located care-of address 10.5.0.2";

/// A move: its name, what happens, and how the node is attached then.
type Move<'a> = (&'a str, &'a dyn Fn(&World), &'a str);

/// Goes from place to place. At each the ping is answered and the ssh session goes on.
fn rove(world: &World, session: &mut Session, moves: &[Move<'_>]) {
    let answers = |w: &World| replies(&w.said("ping")).len();
    world.until("the ping is answered", |w| answers(w) > 3);
    let mut began = Vec::new();
    for (name, go, how) in moves {
        let before = world.said("node").matches(how).count();
        began.push((*name, now()));
        go(world);
        attached(world, how, before + 1);
        session.says();
        let so_far = answers(world);
        world.until("the ping is answered here", |w| answers(w) > so_far + 5);
        session.says();
    }
    eprintln!("{}\n{}", report(&world.said("ping"), &began), world.said("node"));
}

#[test]
fn one_ssh_session_and_one_ping_live_through_a_foreign_agent_and_home_again() {
    skip_without_root!();
    let mut world = World::new();
    for (host, interface) in [("home", "lan0"), ("home", "up0"), ("foreign", "lan0"), ("mobile", "cell0")] {
        world.capture(host, interface);
    }
    world.start_role("home", "home-agent", &home_agent());
    world.start_role(
        "foreign",
        "foreign-agent",
        "uplink = \"up0\"\ncare_of = \"10.4.0.2\"\n[[links]]\ninterface = \"lan0\"\n",
    );
    world.start_role("mobile", "node", &mobile_node(&[("wlan0", "link", ""), ("cell0", "co-located", "")]));
    attached(&world, AT_HOME, 1);
    let mut session = Session::open(&mut world);
    world.start("peer", "ping", &["ping", "-D", "-i", "0.2", "-s", "16", "10.1.0.9"]);
    let moves: [Move<'_>; 3] = [
        ("home to foreign agent", &|w| w.walk(Some("other")), ON_OTHER_LAN),
        ("foreign agent to cellular", &|w| w.walk(None), CELLULAR),
        ("cellular to home", &|w| w.walk(Some("lan")), AT_HOME),
    ];
    rove(&world, &mut session, &moves);
    session.close();
    for capture in ["home-lan0", "home-up0", "foreign-lan0", "mobile-cell0"] {
        world.stop(&format!("capture-{capture}"));
    }
    judge(&world);
}

#[test]
fn a_mobile_node_joins_a_mesh_whose_gateway_is_two_hops_away_and_goes_home_again() {
    skip_without_root!();
    let mut world = World::new();
    world.mesh(&["mobile", "car", "foreign"], "dsr");
    world.capture("foreign", "mesh0");
    world.start_role("home", "home-agent", &home_agent());
    let foreign = "uplink = \"up0\"\ncare_of = \"10.4.0.2\"\n[[links]]\ninterface = \"mesh0\"\nmesh = true\n";
    world.start_role("foreign", "foreign-agent", foreign);
    let links = [("wlan0", "link", ""), ("mesh0", "mesh", ""), ("cell0", "co-located", "")];
    world.start_role("mobile", "node", &mobile_node(&links));
    attached(&world, AT_HOME, 1);
    let mut session = Session::open(&mut world);
    world.start("peer", "ping", &["ping", "-D", "-i", "0.2", "-s", "16", "10.1.0.9"]);
    // The car leaves: the gateway is out of reach; and it comes back.
    let car = |world: &World, is_there: bool| {
        let to = if is_there { "master sky" } else { "nomaster" };
        world.ip("air", &format!("link set carradio0 {to}"));
    };
    let moves: [Move<'_>; 4] = [
        ("home to mesh", &|w| w.walk(None), IN_MESH),
        ("mesh to cellular", &|w| car(w, false), CELLULAR),
        ("cellular to mesh", &|w| car(w, true), IN_MESH),
        ("mesh to home", &|w| w.walk(Some("lan")), AT_HOME),
    ];
    rove(&world, &mut session, &moves);
    session.close();
    world.stop("capture-foreign-mesh0");
    // tshark: the solicitation for the group crossed a hop, and the advertisement goes to the node that asked.
    let fields = ["ip.src", "ip.dst", "icmp.type"];
    let all = world.frames("foreign-mesh0", "icmp.type == 10 || icmp.type == 9", &fields);
    let has = |wanted: [&str; 3]| assert!(all.iter().any(|m| *m == wanted), "{wanted:?}: {all:?}");
    has(["10.9.0.1", "239.192.0.11", "10"]);
    has(["10.9.0.1", "10.9.0.3", "10"]);
    has(["10.9.0.3", "10.9.0.1", "9"]);
    let fields = ["ip.src", "ip.dst", "mip.type", "mip.coa", "mip.code"];
    let all = world.frames("foreign-mesh0", "mip", &fields);
    let has = |wanted: [&str; 5]| assert!(all.iter().any(|m| *m == wanted), "{wanted:?}: {all:?}");
    has(["10.9.0.1", "10.9.0.3", "1", "10.4.0.2", ""]);
    has(["10.9.0.3", "10.9.0.1", "3", "", "0"]);
    for ends in [["10.9.0.3,10.1.0.2", "10.9.0.1,10.1.0.9"], ["10.9.0.1,10.1.0.9", "10.9.0.3,10.1.0.2"]] {
        let all = world.frames("foreign-mesh0", "ip.proto == 4 && tcp.port == 22", &["ip.src", "ip.dst"]);
        assert!(all.iter().any(|p| *p == ends), "{ends:?}: {all:?}");
    }
    let bad = "_ws.malformed || ip.checksum.status == 0 || (udp.port == 434 && udp.checksum.status == 0)";
    assert_eq!(world.frames("foreign-mesh0", bad, &["frame.number"]), Vec::<Vec<String>>::new());
}

/// A stranger on the home LAN: sends a recorded request, the same with another authenticator, advertisements of a foreign agent, and false replies.
const STRANGER: &str = r"
import socket, struct, sys
request = bytes.fromhex(sys.argv[1])
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(4):
    udp.sendto(request, ('10.1.0.1', 434))
    udp.sendto(request[:-1] + bytes([request[-1] ^ 1]), ('10.1.0.1', 434))
    udp.sendto(bytes([3, 0]) + request[2:12] + request[16:24] + request[24:], ('10.1.0.9', 434))
own = socket.inet_aton('10.1.0.2')
def checksum(b):
    s = sum(struct.unpack(f'>{len(b) // 2}H', b))
    s = (s & 0xffff) + (s >> 16)
    return ~((s & 0xffff) + (s >> 16)) & 0xffff
icmp = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
for sequence in range(200):
    body = struct.pack('>BBH4sI', 1, 2, 65535, own, 0) + struct.pack('>BBHHH4s', 16, 10, sequence, 65535, 0x9100, own)
    sum_ = checksum(struct.pack('>BBH', 9, 0, 0) + body)
    icmp.sendto(struct.pack('>BBH', 9, 0, sum_) + body, ('224.0.0.1', 0))
";

/// A mesh of a protocol that makes routes in the kernel: the agent is asked by its address.
fn rove_into_mesh_of(protocol: &str) {
    let mut world = World::new();
    world.mesh(&["mobile", "car", "foreign"], protocol);
    world.start_role("home", "home-agent", &home_agent());
    let foreign = "uplink = \"up0\"\ncare_of = \"10.4.0.2\"\n[[links]]\ninterface = \"mesh0\"\nmesh = true\nradio = \"radio0\"\n";
    world.start_role("foreign", "foreign-agent", foreign);
    let mesh = ("mesh0", "mesh", "radio = \"radio0\"\nagents = [\"10.9.0.3\"]");
    world.start_role("mobile", "node", &mobile_node(&[("wlan0", "link", ""), mesh]));
    attached(&world, AT_HOME, 1);
    let mut session = Session::open(&mut world);
    world.start("peer", "ping", &["ping", "-D", "-i", "0.2", "-s", "16", "10.1.0.9"]);
    let (there, back) = (format!("home to mesh of {protocol}"), format!("mesh of {protocol} to home"));
    let moves: [Move<'_>; 2] =
        [(&there, &|w| w.walk(None), IN_MESH), (&back, &|w| w.walk(Some("lan")), AT_HOME)];
    rove(&world, &mut session, &moves);
    session.close();
}

#[test]
fn in_a_mesh_of_aodv_the_gateway_is_asked_by_its_address() {
    if may_run() {
        rove_into_mesh_of("aodv");
    }
}

#[test]
fn in_a_mesh_of_dsdv_the_gateway_is_asked_by_its_address() {
    if may_run() {
        rove_into_mesh_of("dsdv");
    }
}

#[test]
fn a_visitor_in_a_mesh_of_dsr_reaches_its_foreign_agents_host_from_its_home_address() {
    skip_without_root!();
    let mut world = World::new();
    world.mesh(&["mobile", "car", "foreign"], "dsr");
    world.start_role("home", "home-agent", &home_agent());
    let foreign = "uplink = \"up0\"\ncare_of = \"10.4.0.2\"\n[[links]]\ninterface = \"mesh0\"\nmesh = true\n";
    world.start_role("foreign", "foreign-agent", foreign);
    let links = [("wlan0", "link", ""), ("mesh0", "mesh", "")];
    world.start_role("mobile", "node", &mobile_node(&links));
    attached(&world, AT_HOME, 1);
    world.walk(None);
    attached(&world, IN_MESH, 1);
    // Its address in the mesh, in the tunnel as well as without; and its care-of address.
    for ping in ["-I mip0 10.9.0.3", "10.9.0.3", "-I 10.1.0.9 10.4.0.2"] {
        world.until(ping, |w| w.run("mobile", &format!("ping -c 1 -W 5 {ping}")).0);
    }
}

/// The mesh knows the visitor by its address there only, and drops packets with another source: what programs send from the home
/// address takes the tunnel, also to hosts of the mesh.
#[test]
fn hosts_of_a_visited_mesh_reach_a_roving_node_at_its_home_address() {
    skip_without_root!();
    let mut world = World::new();
    world.ip("router", "route add 10.9.0.0/24 via 10.4.0.2");
    // Without NAT, so that what the tunnel brings back comes in.
    let settings = [
        ("foreign", "gateway.uplink=up0"),
        ("foreign", "gateway.translate=false"),
        ("car", "outside=[\"0.0.0.0/0\"]"),
    ];
    world.mesh_with(&["mobile", "car", "foreign"], "dsr", &settings);
    world.start_role("home", "home-agent", &home_agent());
    let foreign = "uplink = \"up0\"\ncare_of = \"10.4.0.2\"\n[[links]]\ninterface = \"mesh0\"\nmesh = true\n";
    world.start_role("foreign", "foreign-agent", foreign);
    world.start_role("mobile", "node", &mobile_node(&[("wlan0", "link", ""), ("mesh0", "mesh", "")]));
    attached(&world, AT_HOME, 1);
    world.until("the car reaches it at home", |w| w.run("car", "ping -c 1 -W 5 10.1.0.9").0);
    world.until("a neighbour at home", |w| w.run("mobile", "ping -c 1 -W 5 -I 10.1.0.9 10.1.0.2").0);
    world.walk(None);
    attached(&world, IN_MESH, 1);
    world.until("the car reaches it in its own mesh", |w| w.run("car", "ping -c 1 -W 5 10.1.0.9").0);
    world.until("it reaches the car", |w| w.run("mobile", "ping -c 1 -W 5 -I 10.1.0.9 10.9.0.2").0);
    // Its address in the mesh is of use as ever.
    world.until("the car, as a node of the mesh", |w| w.run("mobile", "ping -c 1 -W 5 10.9.0.2").0);
    world.stop("node");
    for what in ["rule", "route show table all"] {
        let (_, left) = world.run("mobile", &format!("ip {what}"));
        assert!(!left.contains("10.1.0.9") && !left.contains("mip0"), "{what}: {left}");
    }
}

#[test]
fn forged_and_replayed_registrations_and_an_outsiders_advertisements_move_nobody() {
    skip_without_root!();
    let mut world = World::new();
    world.capture("mobile", "cell0");
    world.start_role("home", "home-agent", &home_agent());
    world.start_role("mobile", "node", &mobile_node(&[("wlan0", "link", ""), ("cell0", "co-located", "")]));
    attached(&world, AT_HOME, 1);
    let before = world.said("node").matches(CELLULAR).count();
    world.walk(None);
    attached(&world, CELLULAR, before + 1);
    world.walk(Some("lan"));
    attached(&world, AT_HOME, 2);
    world.until("the home agent knows", |w| w.said("home-agent").trim_end().ends_with("10.1.0.9 is at home"));
    world.stop("capture-mobile-cell0");
    let recorded = world.frames("mobile-cell0", "mip.type == 1", &["udp.payload"]);
    let request = &recorded.last().expect("a request was recorded")[0];
    let file = world.file("stranger.py");
    fs::write(&file, STRANGER).unwrap();
    let refused = |w: &World, why: &str| {
        w.said("home-agent").matches(&format!("10.1.0.9 by 10.1.0.2 is refused: {why}")).count()
    };
    let (ok, said) = world.run("peer", &format!("python3 {} {request}", file.display()));
    assert!(ok, "{said}");
    world.until("all requests are refused", |w| {
        refused(w, "home agent: registration identification mismatch") == 4
            && refused(w, "home agent: mobile node failed authentication") == 4
    });
    // The advertisements were heard, and their agent is one of those that the node knows: but at home it stays.
    world.until("the stranger was heard", |w| w.said("node").contains("found the agent 10.1.0.2"));
    world.until("the node is reached", |w| {
        w.run("peer", "ping -c 5 -i 0.2 -W 5 10.1.0.9").1.contains(" 0% packet loss")
    });
    for (program, wrong) in [("home-agent", "10.1.0.9 is at 10.1.0.2"), ("node", "registers 10.1.0.2")] {
        assert!(!world.said(program).contains(wrong), "{}", world.said(program));
    }
    world.stop("node");
    world.stop("home-agent");
    let said = world.said("home-agent");
    let counted = said.split("stopped: ").nth(1).and_then(|s| s.split(' ').next()?.parse::<u32>().ok());
    assert!(counted.is_some_and(|n| n >= 8), "{said}");
    // The host is as before: the home address was of the program only.
    let (_, addresses) = world.run("mobile", "ip -4 -br address");
    assert!(!addresses.contains("10.1.0.9") && !addresses.contains("mip0"), "{addresses}");
    let (_, routes) = world.run("mobile", "ip route");
    assert!(!routes.contains("/1"), "{routes}");
}

/// What tshark says of every message.
fn judge(world: &World) {
    for capture in ["home-lan0", "home-up0", "foreign-lan0", "mobile-cell0"] {
        let bad = "_ws.malformed || ip.checksum.status == 0 || (udp.port == 434 && udp.checksum.status == 0) || (icmp && icmp.checksum.status == 0)";
        assert_eq!(world.frames(capture, bad, &["frame.number"]), Vec::<Vec<String>>::new(), "{capture}");
    }
    // Advertisements: at home of a home agent, on the other LAN of a foreign agent with its care-of address.
    let fields = ["ip.src", "ip.ttl", "icmp.mip.h", "icmp.mip.f", "icmp.mip.coa"];
    let all = world.frames("home-lan0", "icmp.type == 9", &fields);
    assert!(!all.is_empty() && all.iter().all(|a| a[..4] == ["10.1.0.1", "1", "1", "0"]), "{all:?}");
    let all = world.frames("foreign-lan0", "icmp.type == 9", &fields);
    assert!(!all.is_empty() && all.iter().all(|a| *a == ["10.8.0.1", "1", "0", "1", "10.4.0.2"]), "{all:?}");
    // Each place has a request with its care-of address, and a reply that accepts it.
    let fields = ["ip.src", "ip.dst", "mip.type", "mip.coa", "mip.life", "mip.code"];
    let of = |capture: &str| world.frames(capture, "mip", &fields);
    let has = |all: &[Vec<String>], wanted: [&str; 6]| {
        assert!(all.iter().any(|m| *m == wanted), "{wanted:?}: {all:?}");
    };
    let home = of("home-up0");
    has(&home, ["10.4.0.2", "10.1.0.1", "1", "10.4.0.2", "300", ""]);
    has(&home, ["10.1.0.1", "10.4.0.2", "3", "", "300", "0"]);
    has(&home, ["10.5.0.2", "10.1.0.1", "1", "10.5.0.2", "300", ""]);
    has(&of("foreign-lan0"), ["10.1.0.9", "10.8.0.1", "1", "10.4.0.2", "300", ""]);
    has(&of("foreign-lan0"), ["10.8.0.1", "10.1.0.9", "3", "", "300", "0"]);
    has(&of("mobile-cell0"), ["10.1.0.1", "10.5.0.2", "3", "", "300", "0"]);
    has(&of("home-lan0"), ["10.1.0.9", "10.1.0.1", "1", "10.1.0.9", "0", ""]);
    has(&of("home-lan0"), ["10.1.0.1", "10.1.0.9", "3", "", "0", "0"]);
    // Tunnels, with the ssh session and the ping in them, both ways.
    for (capture, ends) in [
        ("home-up0", ["10.1.0.1,10.1.0.2", "10.4.0.2,10.1.0.9"]),
        ("home-up0", ["10.4.0.2,10.1.0.9", "10.1.0.1,10.1.0.2"]),
        ("mobile-cell0", ["10.1.0.1,10.1.0.2", "10.5.0.2,10.1.0.9"]),
        ("mobile-cell0", ["10.5.0.2,10.1.0.9", "10.1.0.1,10.1.0.2"]),
    ] {
        for inside in ["icmp.type == 8 || icmp.type == 0", "tcp.port == 22"] {
            let all = world.frames(capture, &format!("ip.proto == 4 && ({inside})"), &["ip.src", "ip.dst"]);
            assert!(all.iter().any(|p| *p == ends), "{capture} {ends:?} {inside}: {all:?}");
        }
    }
    // Gratuitous ARP: of the home agent when the node leaves, of the node when it is back; and in between proxy ARP is possible.
    let fields = ["eth.src", "arp.src.hw_mac"];
    let all = world.frames("home-lan0", "arp.isgratuitous && arp.src.proto_ipv4 == 10.1.0.9", &fields);
    let senders: std::collections::BTreeSet<_> = all.iter().map(|a| &a[1]).collect();
    assert_eq!(senders.len(), 2, "{all:?}");
}

#[test]
fn configurations_that_cannot_be_used_are_refused_with_line_key_and_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mip.toml");
    let check = |role: &str, text: &str| {
        fs::write(&file, text).unwrap();
        let done = Command::new(WAYHOP).args(["mobile-ip", role, "--check"]).arg(&file).output().unwrap();
        (done.status.code(), String::from_utf8(done.stderr).unwrap())
    };
    let foreign = "uplink = \"up0\"\ncare_of = \"10.4.0.2\"\n[[links]]\ninterface = \"mesh0\"\n";
    let node = mobile_node(&[("wlan0", "link", ""), ("mesh0", "mesh", "")]);
    assert_eq!(check("home-agent", &home_agent()), (Some(0), String::new()));
    assert_eq!(check("foreign-agent", foreign), (Some(0), String::new()));
    assert_eq!(check("node", &node), (Some(0), String::new()));
    for (role, text, line, key, remedy) in [
        ("home-agent", home_agent().replace("spi = 256", "spi = 255"), 6, "mobiles[0].spi", "256 or more"),
        ("home-agent", home_agent().replace(KEY, "0011"), 7, "mobiles[0].key", "openssl rand"),
        ("home-agent", home_agent().replace("10.1.0.9", "10.2.0.9"), 5, "mobiles[0].address", "home network"),
        ("home-agent", home_agent().replace("10.1.0.1/24", "10.1.0.1"), 2, "address", "10.1.0.9/24"),
        ("home-agent", home_agent().replace("up0", "lan0"), 3, "uplinks[0]", "once"),
        ("foreign-agent", foreign.replace("10.4.0.2", "224.0.0.1"), 2, "care_of", "10.1.0.1"),
        ("foreign-agent", format!("{foreign}radio = \"wlan0\"\n"), 5, "links[0].radio", "remove it"),
        (
            "node",
            node.replace("home_agent = \"10.1.0.1\"", "home_agent = \"10.1.0.9\""),
            2,
            "home_agent",
            "home network",
        ),
        ("node", node.replace("\"mesh\"", "\"mush\""), 12, "`mush`", "did you mean `mesh`"),
        ("node", format!("{node}agents = [\"0.0.0.0\"]\n"), 14, "links[1].agents", "10.1.0.1"),
        (
            "node",
            node.replace("wlan0\"\nkind = \"link\"", "wlan0\"\nkind = \"link\"\nagents = [\"10.9.0.3\"]"),
            9,
            "links[0].agents",
            "remove it",
        ),
    ] {
        let (status, said) = check(role, &text);
        assert_eq!(status, Some(2), "{text}");
        assert!(
            said.contains(&format!("mip.toml:{line}")) && said.contains(key) && said.contains(remedy),
            "{said}\n{text}"
        );
    }
}
