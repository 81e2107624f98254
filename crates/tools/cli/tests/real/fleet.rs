//! `wayhop fleet` against real ssh daemons (Debian: openssh-server) in network namespaces. Keys and configurations are the test's own: nothing
//! of the user's ~/.ssh is read or written.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant, UNIX_EPOCH};

use serde_json::Value;

use crate::mesh::{Mesh, WAYHOP, skip_without_root};

/// A gpsd with one receiver that stands still.
const GPSD: &str = r#"
import socket, time
s = socket.create_server(('127.0.0.1', 2947))
while True:
    c, _ = s.accept()
    c.sendall(b'{"class":"VERSION","release":"3.22","proto_major":3,"proto_minor":14}\n')
    try:
        while True:
            c.sendall(b'{"class":"TPV","mode":3,"status":3,"lat":40.5,"lon":-79.75}\n')
            c.sendall(b'{"class":"GST","lat":0.006,"lon":0.008,"alt":0.02}\n{"class":"SKY","uSat":11}\n')
            time.sleep(0.2)
    except OSError:
        pass
"#;

/// Programs of the first test: one that writes when it begins and waits, one that sends, and one that does not end when it is told to.
const PROGRAMS: &str = r#"
[[start]]
name = "trajectory"
command = ["sh", "-c", "date +%s.%N > \"$1/begin\"; echo \"$2\"; test -r all.macfilter && exec sleep 1000", "sh", "{out}", "{host} is '{node}' $HOME"]
[[start]]
name = "traffic"
hosts = ["car-0"]
command = ["ping", "-c", "4", "10.0.0.3"]
at_s = 4
for_s = 60
[[start]]
name = "stubborn"
hosts = ["car-1"]
command = ["sh", "-c", "trap '' TERM; echo stays >&2; while :; do sleep 1; done"]
root = true
"#;

/// Where hosts have their programs, behind a folder of each host's own.
const USUAL_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// A sudo that asks for no password: it wants the options by which the real one never does, and takes the environment away.
const SUDO: &str = r#"#!/bin/sh
[ "$1 $2" = "-n --" ] || { echo "sudo: a password is required" >&2; exit 1; }
shift 2
exec env -i PATH="$PATH" SUDO_UID=1000 "$@"
"#;
/// Programs that say whether they were started by sudo; one does not end when it is told to.
const PROGRAMS_OF_ROOT: &str = r#"
[[start]]
name = "root"
command = ["sh", "-c", "echo by ${SUDO_UID:-nobody} to $1; echo written > \"$1/file\"; trap '' TERM; while :; do sleep 1; done", "sh", "{out}"]
root = true
[[start]]
name = "limited"
command = ["sh", "-c", "echo by ${SUDO_UID:-nobody}; exec sleep 1000"]
root = true
for_s = 1
[[start]]
name = "user"
command = ["sh", "-c", "echo by ${SUDO_UID:-nobody}; exec sleep 1000"]
"#;

/// Hosts of a mesh, and a second network by which an operator reaches them.
struct Site {
    mesh: Mesh,
    operator: String,
    sshds: Vec<Option<Child>>,
    folder: PathBuf,
}

impl Site {
    fn new(hosts: usize) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let mesh = Mesh::line(hosts);
        let operator = format!("whf{}x{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let folder = mesh.folder().to_owned();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
        ip(&format!("netns add {operator}"));
        ip(&format!("-n {operator} link add br0 type bridge"));
        ip(&format!("-n {operator} addr add 10.9.0.254/24 dev br0"));
        ip(&format!("-n {operator} link set br0 up"));
        ip(&format!("-n {operator} link set lo up"));
        for i in 0..hosts {
            let host = mesh.host(i);
            ip(&format!("-n {host} link add ssh0 type veth peer name s{i} netns {operator}"));
            ip(&format!("-n {host} addr add 10.9.0.{}/24 dev ssh0", i + 1));
            ip(&format!("-n {host} link set ssh0 up"));
            ip(&format!("-n {operator} link set s{i} master br0 up"));
        }
        // sshd's folder for its unprivileged part, which Debian's service makes at each boot.
        fs::create_dir_all("/run/sshd").unwrap();
        key(&folder.join("client"));
        fs::copy(folder.join("client.pub"), folder.join("authorized")).unwrap();
        let mut known = String::new();
        for i in 0..hosts {
            key(&folder.join(format!("host{i}")));
            let public = fs::read_to_string(folder.join(format!("host{i}.pub"))).unwrap();
            let _ = writeln!(known, "10.9.0.{} {}", i + 1, public.trim());
        }
        fs::write(folder.join("known_hosts"), known).unwrap();
        let here = folder.display();
        fs::write(
            folder.join("ssh_config"),
            format!(
                "Host *\n User root\n IdentityFile {here}/client\n IdentitiesOnly yes\n IdentityAgent none\n\
                 UserKnownHostsFile {here}/known_hosts\n GlobalKnownHostsFile /dev/null\n StrictHostKeyChecking yes\n"
            ),
        )
        .unwrap();
        Self { mesh, operator, sshds: (0..hosts).map(|_| None).collect(), folder }
    }

    /// Starts the ssh daemon of a host, with more lines of configuration.
    fn sshd(&mut self, i: usize, more: &str) {
        let here = self.folder.display();
        let config = self.folder.join(format!("sshd{i}.conf"));
        let runtime = self.folder.join(format!("run{i}"));
        fs::create_dir_all(&runtime).unwrap();
        let text = format!(
            "Port 22\nHostKey {here}/host{i}\nAuthorizedKeysFile {here}/authorized\nPidFile none\nUsePAM no\nStrictModes no\n\
             PermitRootLogin prohibit-password\nMaxStartups 100\nSetEnv WAYHOP_RUNTIME_DIR={} PATH={here}/bin{i}:{USUAL_PATH}\n{more}\n",
            runtime.display()
        );
        fs::write(&config, text).unwrap();
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.mesh.host(i), "/usr/sbin/sshd", "-D", "-f"]).arg(&config);
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.sshds[i] = Some(quiet.spawn().expect("sshd (.ci/install test)"));
        let listens = |m: &Mesh| m.run(i, "ss -Hltn sport = :22").1.contains(":22");
        self.mesh.until("sshd listens", Duration::from_secs(60), listens);
    }

    /// The folder of a host's part of the fleet: all hosts share one disk here.
    fn directory(&self, i: usize) -> PathBuf {
        self.folder.join(format!("fleet dir '{i}'"))
    }

    /// Writes a fleet's file: the head, and for each host more lines.
    fn fleet(&self, hosts: &[(usize, &str)]) -> PathBuf {
        self.fleet_with(hosts, "")
    }
    /// The same, with programs.
    fn fleet_with(&self, hosts: &[(usize, &str)], programs: &str) -> PathBuf {
        let scenario = "nodes.count = 5\nmovement = { kind = \"chain\", spacing_m = 200 }\nprotocol = { name = \"dsr\" }\n";
        fs::write(self.folder.join("line.toml"), scenario).unwrap();
        let all = [0, 1, 2, 3, 4].map(|i| format!("at 0 node {i} ignores nobody\n")).concat();
        fs::write(self.folder.join("all.macfilter"), all).unwrap();
        let mut text =
            "scenario = \"line.toml\"\nfiles = [\"all.macfilter\"]\nssh_config = \"ssh_config\"\ntimeout_s = 30\nmin_free_mib = 1\nsets = [\"capture.snap_length_bytes=200\", \"macfilter.file=all.macfilter\"]\n"
                .to_owned();
        for (i, more) in hosts {
            let _ = writeln!(
                text,
                "[[hosts]]\nname = \"car-{i}\"\nssh = \"10.9.0.{}\"\nnode = {i}\ninterface = \"eth1\"\ndirectory = {:?}\n{more}",
                i + 1,
                self.directory(*i).display().to_string()
            );
        }
        let file = self.folder.join("cars.toml");
        fs::write(&file, text + programs).unwrap();
        file
    }

    /// Runs a command of the fleet from the operator's place.
    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.operator, WAYHOP, "fleet"]).args(arguments);
        command.env("HOME", &self.folder).current_dir(&self.folder).output().unwrap()
    }

    /// The report of such a command, and its exit status.
    fn report(&self, arguments: &[&str]) -> (Value, i32) {
        let done = self.run(&[arguments, &["--json"]].concat());
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        let report: Value = serde_json::from_slice(&done.stdout).unwrap_or_else(|e| panic!("{e}: {said}"));
        let schema = include_str!("../../../../../docs/reference/schemas/fleet.schema.json");
        let schema: Value = serde_json::from_str(schema).unwrap();
        if let Err(e) = jsonschema::validate(&schema, &report) {
            panic!("{e}: {report}");
        }
        (report, done.status.code().unwrap())
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        // What the fleet started ends first.
        for i in 0..self.sshds.len() {
            let _ = self.run(&["stop", "cars.toml", "--quiet", "--host", &format!("car-{i}")]);
        }
        for mut sshd in self.sshds.iter_mut().filter_map(Option::take) {
            let _ = sshd.kill();
            let _ = sshd.wait();
        }
        let _ = Command::new("ip").args(["netns", "del", &self.operator]).output();
    }
}

fn ip(arguments: &str) {
    assert!(Command::new("ip").args(arguments.split(' ')).status().unwrap().success(), "ip {arguments}");
}

fn key(path: &Path) {
    let mut make = Command::new("ssh-keygen");
    make.args(["-q", "-t", "ed25519", "-N", "", "-C", "test", "-f"]).arg(path);
    assert!(make.status().expect("ssh-keygen (.ci/install test)").success());
}

fn host(report: &Value, i: usize) -> &Value {
    let hosts = report["hosts"].as_array().unwrap();
    hosts.iter().find(|h| h["name"] == format!("car-{i}")).unwrap_or_else(|| panic!("no car-{i}: {report}"))
}

/// When a file was written.
fn unix_seconds(path: &Path) -> f64 {
    fs::metadata(path).unwrap().modified().unwrap().duration_since(UNIX_EPOCH).unwrap().as_secs_f64()
}

/// What became of a host's programs.
fn outcomes(stopped: &Value, i: usize) -> Vec<String> {
    let all = host(stopped, i)["stop"]["programs"].as_array().unwrap().iter();
    let mut all: Vec<_> = all.map(|p| format!("{} {}", p["name"], p["outcome"]).replace('"', "")).collect();
    all.sort();
    all
}

/// The program came without its symbols, and compressed.
fn assert_is_small(push: &Value) {
    let count = |key: &str| push[key].as_u64().unwrap();
    let (bytes, unpacked, whole) =
        (count("bytes"), count("unpacked_bytes"), fs::metadata(WAYHOP).unwrap().len());
    eprintln!("wayhop has {whole} bytes here, files have {unpacked} there, and {bytes} were sent");
    assert!(unpacked < whole && bytes < unpacked / 2, "{bytes} {unpacked} {whole}");
}

/// What programs said and wrote came with the runs. They began after the nodes did, and before the traffic ended, which begins 4 s
/// after the nodes.
fn assert_programs_have_run(site: &Site, started: &Value, traffic_ended: f64) {
    let read = |name: &str| {
        let path = site.folder.join("records").join(name);
        fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    };
    let starts = started["starts_unix_s"].as_f64().unwrap();
    for i in 0..3 {
        let began: f64 = read(&format!("car-{i}.programs/trajectory/begin")).trim().parse().unwrap();
        assert!((starts..traffic_ended).contains(&began), "{began} {starts} {traffic_ended}");
        let node = host(started, i)["node"].as_str().unwrap();
        let said = read(&format!("car-{i}.programs/trajectory/stdout.log"));
        assert_eq!(said, format!("car-{i} is '{node}' $HOME\n"));
    }
    assert!(read("car-0.programs/traffic/stdout.log").contains("bytes from 10.0.0.3"));
    assert_eq!(read("car-0.programs/traffic/status").trim(), "0");
    assert_eq!(read("car-1.programs/stubborn/stderr.log"), "stays\n");
}

#[test]
fn a_fleet_is_checked_equipped_started_and_stopped_and_its_records_are_fetched() {
    skip_without_root!();
    let mut site = Site::new(3);
    for i in 0..3 {
        site.sshd(i, "");
    }
    let _gpsd = site.mesh.start_program(1, &["python3", "-c", GPSD]);
    let installed = format!("wayhop = {WAYHOP:?}");
    // One host gets the program, the others have it.
    let gps = format!("{installed}\ngpsd = \"127.0.0.1:2947\"");
    site.fleet_with(&[(0, ""), (1, &gps), (2, &installed)], PROGRAMS);

    let (pushed, status) = site.report(&["push", "cars.toml"]);
    assert_eq!((status, &pushed["ok"]), (0, &true.into()), "{pushed}");
    assert_eq!(
        host(&pushed, 0)["push"]["sent"],
        serde_json::json!(["wayhop", "files/line.toml", "files/all.macfilter"])
    );
    assert_eq!(
        host(&pushed, 2)["push"]["sent"],
        serde_json::json!(["files/line.toml", "files/all.macfilter"])
    );
    assert_is_small(&host(&pushed, 0)["push"]);
    let said = Command::new(site.directory(0).join("wayhop")).arg("--version").output().unwrap();
    let version = String::from_utf8(said.stdout).unwrap();
    assert!(version.starts_with(concat!("wayhop ", env!("CARGO_PKG_VERSION"), "+")), "{version}");
    let (again, _) = site.report(&["push", "cars.toml"]);
    assert_eq!(host(&again, 0)["push"]["bytes"], 0, "{again}");
    assert_eq!(host(&again, 0)["push"]["digests"], host(&pushed, 0)["push"]["digests"]);

    let (checked, status) = site.report(&["check", "cars.toml"]);
    assert_eq!(status, 0, "{checked}");
    let found = &host(&checked, 1)["check"];
    assert_eq!(found["version"], version.trim());
    assert_eq!((&found["gps"], &found["gps_accuracy_m"]), (&"rtk-fixed".into(), &0.01.into()), "{found}");
    assert_eq!(found["interfaces"], serde_json::json!([["eth1", "up"]]));
    // All hosts have this machine's clock: what is measured is 0, within the error that is told.
    let clock = &found["clock"];
    let (offset, error) = (clock["offset_s"].as_f64().unwrap(), clock["error_s"].as_f64().unwrap());
    assert!(offset.abs() <= error, "{clock}");
    assert!(host(&checked, 0)["check"]["gps"].is_null());

    let (started, status) = site.report(&["start", "cars.toml", "--in", "3"]);
    assert_eq!((status, &started["ok"]), (0, &true.into()), "{started}");
    let run = started["run"].as_str().unwrap().to_owned();
    site.mesh.ping(0, 2, 3);
    let (twice, status) = site.report(&["start", "cars.toml", "--in", "1"]);
    assert_eq!(status, 1, "{twice}");
    assert!(twice["hosts"][0]["problems"][0].as_str().unwrap().contains("already running"), "{twice}");
    let status_of_ping = site.directory(0).join("runs").join(&run).join("car-0.programs/traffic/status");
    site.mesh.until("the traffic ends", Duration::from_secs(60), |_| status_of_ping.exists());
    let traffic_ended = unix_seconds(&status_of_ping);
    let (early, status) = site.report(&["fetch", "cars.toml"]);
    assert_eq!(status, 1, "{early}");
    let (stopped, status) = site.report(&["stop", "cars.toml"]);
    assert_eq!(status, 0, "{stopped}");
    assert!((0..3).all(|i| host(&stopped, i)["stop"]["outcome"] == "ended"), "{stopped}");
    assert_eq!(outcomes(&stopped, 0), ["traffic was over", "trajectory ended"]);
    assert_eq!(outcomes(&stopped, 1), ["stubborn killed", "trajectory ended"]);

    // One host is lost for now.
    ip(&format!("-n {} link set s2 down", site.operator));
    let (fetched, status) = site.report(&["fetch", "cars.toml", "--out", "records"]);
    assert_eq!((status, &host(&fetched, 2)["state"]), (1, &"lost".into()), "{fetched}");
    assert!((0..2).all(|i| host(&fetched, i)["fetch"]["complete"] == true), "{fetched}");
    ip(&format!("-n {} link set s2 up", site.operator));
    // What came before an interruption is not fetched again.
    let there = site.directory(2).join("runs").join(&run).join("car-2/packets.parquet");
    let whole = fs::read(&there).unwrap();
    fs::create_dir_all(site.folder.join("records/car-2")).unwrap();
    fs::write(site.folder.join("records/car-2/packets.parquet.part"), &whole[..whole.len() / 2]).unwrap();
    let (fetched, status) = site.report(&["fetch", "cars.toml", "--out", "records"]);
    assert_eq!(status, 0, "{fetched}");
    assert_eq!(host(&fetched, 0)["fetch"]["brought_bytes"], 0, "it is here already");
    let late = &host(&fetched, 2)["fetch"];
    let missing = late["bytes"].as_u64().unwrap() - (whole.len() / 2) as u64;
    assert_eq!(late["brought_bytes"].as_u64().unwrap(), missing, "{late}");
    assert_eq!(fs::read(site.folder.join("records/car-2/packets.parquet")).unwrap(), whole);
    for i in 0..3 {
        let folder = site.folder.join(format!("records/car-{i}"));
        let record = wayhop_trace::RunDir::open(folder, wayhop_protocols::CLASSIFIER).unwrap();
        assert_eq!(record.manifest().unwrap().status, wayhop_trace::RunStatus::Complete);
        let log = fs::read_to_string(site.folder.join(format!("records/car-{i}.log"))).unwrap();
        assert!(log.contains("programs use mesh0"), "{log}");
    }
    assert_programs_have_run(&site, &started, traffic_ended);
    let text = String::from_utf8(site.run(&["stop", "cars.toml", "--quiet"]).stdout).unwrap();
    assert!(text.lines().nth(1).unwrap().contains("was over"), "{text}");
}

#[test]
fn hosts_with_different_faults_are_told_apart_and_none_is_started() {
    skip_without_root!();
    let mut site = Site::new(5);
    for i in [0, 2, 3] {
        site.sshd(i, "");
    }
    site.sshd(4, "ForceCommand cat /dev/zero");
    // Host 2 has another key than the one that is known of it.
    let stranger = fs::read_to_string(site.folder.join("host1.pub")).unwrap();
    let known = fs::read_to_string(site.folder.join("known_hosts")).unwrap();
    let changed: Vec<String> =
        known
            .lines()
            .map(|l| {
                if l.starts_with("10.9.0.3 ") {
                    format!("10.9.0.3 {}", stranger.trim())
                } else {
                    l.to_owned()
                }
            })
            .collect();
    fs::write(site.folder.join("known_hosts"), changed.join("\n") + "\n").unwrap();
    let old = site.folder.join("old");
    fs::write(&old, "#!/bin/sh\necho wayhop 0.0.9\n").unwrap();
    fs::set_permissions(&old, fs::Permissions::from_mode(0o755)).unwrap();
    let (installed, old) = (format!("wayhop = {WAYHOP:?}"), format!("wayhop = {old:?}"));
    site.fleet(&[(0, &installed), (1, &installed), (2, &installed), (3, &old), (4, &installed)]);
    site.report(&["push", "cars.toml"]);

    let (checked, status) = site.report(&["check", "cars.toml"]);
    assert_eq!(status, 1, "{checked}");
    let state = |i: usize| host(&checked, i)["state"].as_str().unwrap().to_owned();
    assert_eq!([0, 1, 2, 3, 4].map(state), ["ok", "lost", "refused", "wrong", "wrong"], "{checked}");
    let problem = |i: usize| host(&checked, i)["problems"][0].as_str().unwrap().to_owned();
    assert!(problem(2).contains("host key"), "{}", problem(2));
    assert!(problem(3).contains("wayhop 0.0.9") && problem(3).contains("fleet push"), "{}", problem(3));
    assert!(problem(4).contains("unexpected output"), "{}", problem(4));

    let (started, status) = site.report(&["start", "cars.toml"]);
    assert_eq!((status, &started["ok"]), (1, &false.into()));
    assert!(!site.directory(0).join("node.pid").exists(), "nobody starts alone");
    // The table for people names them, too, and no control character reaches the terminal.
    let text = String::from_utf8(site.run(&["check", "cars.toml", "--quiet"]).stdout).unwrap();
    assert!(
        text.contains("car-1: not reachable") && !text.replace('\n', "").contains(char::is_control),
        "{text}"
    );
}

/// What only the host knows: its uplink is missing, a program is, an interface has the name of the TUN; and what shows when the node
/// starts only.
#[test]
fn if_one_host_cannot_start_none_does() {
    skip_without_root!();
    let mut site = Site::new(3);
    for i in 0..3 {
        site.sshd(i, "");
    }
    let installed = format!("wayhop = {WAYHOP:?}");
    let with = |more: &str| format!("{installed}\nsets = [{more}]");
    let uplink = with("\"gateway.uplink=wan7\"");
    let missing = "[[start]]\nname = \"probe\"\nhosts = [\"car-1\"]\ncommand = [\"no-such-program\"]\n";
    let none_runs = |site: &Site| {
        for i in 0..3 {
            let (_, links) = site.mesh.run(i, "ip -br link");
            assert!(!links.contains("mesh0") && !site.directory(i).join("runs").exists(), "{i}: {links}");
        }
    };
    site.fleet(&[(0, &installed), (1, &installed), (2, &installed)]);
    assert_eq!(site.report(&["push", "cars.toml"]).1, 0);
    for (name, more, programs, expected) in [
        ("uplink", uplink.as_str(), "", "wan7"),
        ("program", installed.as_str(), missing, "probe needs no-such-program"),
    ] {
        site.fleet_with(&[(0, &installed), (1, more), (2, &installed)], programs);
        for command in ["check", "start"] {
            let (report, status) = site.report(&[command, "cars.toml"]);
            let problems = host(&report, 1)["problems"].as_array().unwrap();
            assert_eq!((status, problems.len()), (1, 1), "{name} {command}: {report}");
            assert!(problems[0].as_str().unwrap().contains(expected), "{name} {command}: {report}");
            assert!([0, 2].iter().all(|i| host(&report, *i)["ok"] == true), "{report}");
            none_runs(&site);
        }
    }
    // An interface of that name.
    site.fleet(&[(0, &installed), (1, &installed), (2, &installed)]);
    ip(&format!("-n {} link add mesh0 type veth peer name mesh0peer", site.mesh.host(1)));
    let (report, status) = site.report(&["start", "cars.toml"]);
    assert_eq!(status, 1, "{report}");
    assert!(
        report["hosts"][1]["problems"][0].as_str().unwrap().contains("interface mesh0 already exists"),
        "{report}"
    );
    ip(&format!("-n {} link del mesh0", site.mesh.host(1)));
    // It goes while the nodes wait for their time: no check sees that, and the others are stopped again.
    let (host1, pid) = (site.mesh.host(1), site.directory(1).join("node.pid"));
    let away = std::thread::spawn(move || {
        let begun = Instant::now();
        while !pid.exists() && begun.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(50));
        }
        ip(&format!("-n {host1} link set eth1 down"));
        ip(&format!("-n {host1} link set eth1 name eth9"));
    });
    let (report, status) = site.report(&["start", "cars.toml", "--in", "20"]);
    away.join().unwrap();
    assert_eq!(status, 1, "{report}");
    assert_eq!(host(&report, 1)["state"], "wrong", "{report}");
    assert!([0, 2].iter().all(|i| host(&report, *i)["stop"]["outcome"] == "ended"), "{report}");
    for i in 0..3 {
        assert!(!site.mesh.run(i, "ip -br link").1.contains("mesh0"));
    }
    // What all have is told once.
    site.fleet(&[(0, "wayhop = \"/nowhere\""), (1, "wayhop = \"/nowhere\""), (2, "wayhop = \"/nowhere\"")]);
    let text = String::from_utf8(site.run(&["check", "cars.toml", "--quiet"]).stdout).unwrap();
    assert!(
        text.contains("car-0, car-1, car-2: wayhop is not installed")
            && text.matches("is not installed").count() == 1,
        "{text}"
    );
}

#[test]
fn a_fleets_file_that_cannot_be_used_is_refused_with_line_key_and_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cars.toml");
    let check = |text: &str| {
        fs::write(&file, text).unwrap();
        let done = Command::new(WAYHOP).args(["fleet", "check"]).arg(&file).output().unwrap();
        assert_eq!(done.status.code(), Some(2), "{text}");
        String::from_utf8(done.stderr).unwrap()
    };
    fs::write(
        folder.path().join("s.toml"),
        "nodes.count = 2\nmovement = { kind = \"chain\", spacing_m = 200 }\n",
    )
    .unwrap();
    let said = check(
        "scenario = \"s.toml\"\n[[hosts]]\nname = \"a\"\ninterface = \"wlan0\"\nssh = \"-oProxyCommand=id\"\n",
    );
    assert!(said.contains("cars.toml:5") && said.contains("hosts[0].ssh"), "{said}");
    let said = check("scenario = \"s.toml\"\n[[hosts]]\nname = \"a\"\ninterface = \"wlan0\"\nnode = 7\n");
    assert!(said.contains("hosts[0].node") && said.contains("no node \"7\""), "{said}");
    let said = check("scenario = \"s.toml\"\nhosts = []\nhuts = 1\n");
    assert!(said.contains("huts") && said.contains("did you mean"), "{said}");
    let said = check("scenario = \"nowhere.toml\"\n[[hosts]]\nname = \"a\"\ninterface = \"wlan0\"\n");
    assert!(said.contains("nowhere.toml"), "{said}");
}

/// Where the user is not root, sudo is what begins and ends the node, and programs that have to be root.
#[test]
fn with_sudo_programs_of_root_are_started_and_ended_by_it_and_others_are_not() {
    skip_without_root!();
    let mut site = Site::new(1);
    let bin = site.folder.join("bin0");
    fs::create_dir(&bin).unwrap();
    site.sshd(0, "");
    let host_lines = format!("sudo = true\nwayhop = {WAYHOP:?}");
    site.fleet_with(&[(0, &host_lines)], PROGRAMS_OF_ROOT);
    let (checked, status) = site.report(&["check", "cars.toml"]);
    let problems = host(&checked, 0)["problems"].to_string();
    assert!(status == 1 && problems.contains("sudo without a password"), "no sudo there: {checked}");

    fs::write(bin.join("sudo"), SUDO).unwrap();
    fs::set_permissions(bin.join("sudo"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(site.report(&["push", "cars.toml"]).1, 0);
    let (checked, status) = site.report(&["check", "cars.toml"]);
    assert_eq!(status, 0, "{checked}");
    let (started, status) = site.report(&["start", "cars.toml", "--in", "3"]);
    assert_eq!(status, 0, "{started}");
    let programs =
        site.directory(0).join("runs").join(started["run"].as_str().unwrap()).join("car-0.programs");
    let said =
        |program: &str| fs::read_to_string(programs.join(program).join("stdout.log")).unwrap_or_default();
    site.mesh.until("programs have begun", Duration::from_secs(60), |_| {
        ["root", "limited", "user"].iter().all(|program| said(program).contains("by "))
    });
    assert_eq!(said("root"), format!("by 1000 to {}\n", programs.join("root").display()));
    assert_eq!((said("limited").as_str(), said("user").as_str()), ("by 1000\n", "by nobody\n"));
    site.mesh
        .until("the limit ends one", Duration::from_secs(60), |_| programs.join("limited/status").exists());
    let (stopped, status) = site.report(&["stop", "cars.toml"]);
    assert_eq!(status, 0, "{stopped}");
    assert_eq!(outcomes(&stopped, 0), ["limited was over", "root killed", "user ended"]);
    let (fetched, status) = site.report(&["fetch", "cars.toml", "--out", "records"]);
    assert_eq!(status, 0, "{fetched}");
    let records = site.folder.join("records");
    assert_eq!(
        fs::read_to_string(records.join("car-0.programs").join("root").join("file")).unwrap(),
        "written\n"
    );
    assert_eq!(fs::read_to_string(records.join("car-0.programs/limited/status")).unwrap(), "124\n");
}
