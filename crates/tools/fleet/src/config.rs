//! The fleet file: the hosts, and what they run.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde::Deserialize;
use wayhop_core::node_named;
use wayhop_document::Document;

use crate::error::Error;
use crate::names::{has_control, is_name};
use crate::program::{self, Program};

/// The fleet's folder on hosts, unless the file names another one.
const DIRECTORY: &str = "/var/tmp/wayhop-fleet";
const MOST_HOSTS: usize = 256;
/// Most further files of a scenario, and settings of a node.
const MOST_FILES: usize = 256;

/// `FLEET.toml` as it is written.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct FleetFile {
    scenario: PathBuf,
    #[serde(default)]
    files: Vec<PathBuf>,
    directory: Option<String>,
    wayhop: Option<String>,
    #[serde(default)]
    sudo: bool,
    ssh_config: Option<PathBuf>,
    ssh_program: Option<String>,
    jobs: Option<u16>,
    timeout_s: Option<u32>,
    min_free_mib: Option<u64>,
    max_clock_offset_s: Option<f64>,
    fetch_limit_mib: Option<u64>,
    #[serde(default)]
    sets: Vec<String>,
    #[serde(default)]
    start: Vec<Program>,
    hosts: Vec<HostFile>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
struct HostFile {
    name: String,
    ssh: Option<String>,
    port: Option<u16>,
    node: Option<NodeName>,
    interface: String,
    #[serde(default)]
    interfaces: Vec<String>,
    gpsd: Option<String>,
    directory: Option<String>,
    wayhop: Option<String>,
    sudo: Option<bool>,
    #[serde(default)]
    sets: Vec<String>,
}

/// A node of the scenario: its number or its name.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
enum NodeName {
    Number(u32),
    Name(String),
}

/// The hosts of a field run, checked.
#[derive(Clone, Debug)]
pub struct Fleet {
    /// Its name: that of its file.
    pub name: String,
    /// The fleet file.
    pub path: PathBuf,
    /// The scenario of all hosts.
    pub scenario: PathBuf,
    /// Further files of the scenario, relative to the fleet file.
    pub files: Vec<PathBuf>,
    /// The hosts.
    pub hosts: Vec<Host>,
    /// Number of hosts handled at a time.
    pub jobs: usize,
    /// How long a host may be silent before it counts as lost.
    pub patience: Duration,
    /// Required free disk space of a host, MiB.
    pub min_free_mib: u64,
    /// Largest accepted offset of a host's clock, seconds.
    pub max_clock_offset_s: f64,
    /// Limit of the records fetched from one host, bytes.
    pub fetch_limit: u64,
    ssh_program: String,
    ssh_config: Option<PathBuf>,
}

/// One host.
#[derive(Clone, Debug, PartialEq)]
pub struct Host {
    /// Its name in the fleet.
    pub name: String,
    /// Its destination for ssh.
    pub ssh: String,
    /// Port of sshd, if not set in ssh's configuration.
    pub port: Option<u16>,
    /// The name of its node.
    pub node: String,
    /// Its interfaces in the mesh, in order.
    pub interfaces: Vec<String>,
    /// The gpsd there, host and port.
    pub gpsd: Option<String>,
    /// The fleet's folder there.
    pub directory: String,
    /// A wayhop installed there; by default the one in the fleet's folder.
    pub wayhop: Option<String>,
    /// Whether the node needs `sudo` to be root.
    pub sudo: bool,
    /// Further settings of the node.
    pub sets: Vec<String>,
    /// Programs that start with the node.
    pub programs: Vec<Program>,
}

impl Host {
    /// The command that runs there.
    pub(crate) fn program(&self) -> String {
        self.wayhop.clone().unwrap_or_else(|| format!("{}/wayhop", self.directory))
    }
}

impl Fleet {
    /// Reads the file, and the files that it refers to. `nodes` returns the names of the nodes of a scenario file.
    pub fn load(
        path: &Path,
        nodes: impl FnOnce(&Path) -> Result<Vec<String>, wayhop_document::Error>,
    ) -> Result<Self, Error> {
        let doc = Document::load(path)?;
        let file: FleetFile = doc.deserialize().map_err(in_our_words)?;
        Self::resolve(file, &doc, path, nodes).map_err(|e| match e {
            Error::Config(e) => Error::Config(in_our_words(e)),
            e => e,
        })
    }

    /// Reads a text as a fleet file without checking the files that it refers to, for tests.
    pub fn check_text(text: &str) -> Result<usize, Error> {
        let doc = Document::new(None, text.to_owned());
        let file: FleetFile = doc.deserialize()?;
        file.check(&doc)?;
        Ok(file.hosts.len())
    }

    fn resolve(
        file: FleetFile,
        doc: &Document,
        path: &Path,
        nodes: impl FnOnce(&Path) -> Result<Vec<String>, wayhop_document::Error>,
    ) -> Result<Self, Error> {
        file.check(doc)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let scenario = folder.join(&file.scenario);
        let names = nodes(&scenario)?;
        let files = file.files.clone();
        for (i, name) in files.iter().enumerate() {
            if !folder.join(name).is_file() {
                let reason = format!("no such file: {}", folder.join(name).display());
                let remedy = "paths are relative to the fleet file";
                return Err(doc.error(&format!("files[{i}]"), reason, remedy).into());
            }
        }
        let mut hosts = Vec::new();
        for (i, h) in file.hosts.iter().enumerate() {
            let host = h.resolve(&file, doc, i, &names)?;
            if let Some(other) = hosts.iter().find(|o: &&Host| o.node == host.node) {
                let reason = format!("{} is already node {}", other.name, host.node);
                let remedy = "give each host a different node";
                return Err(doc.error(&format!("hosts[{i}].node"), reason, remedy).into());
            }
            hosts.push(host);
        }
        let stem = path.file_stem().map_or_else(|| "fleet".into(), |s| s.to_string_lossy().into_owned());
        Ok(Self {
            name: wayhop_core::file_name(&stem),
            path: path.to_owned(),
            scenario,
            files,
            hosts,
            jobs: file.jobs.unwrap_or(8).into(),
            patience: Duration::from_secs(file.timeout_s.unwrap_or(20).into()),
            min_free_mib: file.min_free_mib.unwrap_or(500),
            max_clock_offset_s: file.max_clock_offset_s.unwrap_or(1.0),
            fetch_limit: file.fetch_limit_mib.unwrap_or(16 << 10) << 20,
            ssh_program: file.ssh_program.unwrap_or_else(|| "ssh".to_owned()),
            ssh_config: file.ssh_config.map(|p| folder.join(p)),
        })
    }

    /// Keeps only the hosts with these names; all of them without names.
    pub fn keep(&mut self, names: &[String]) -> Result<(), Error> {
        if let Some(unknown) = names.iter().find(|n| !self.hosts.iter().any(|h| h.name == **n)) {
            let all: Vec<&str> = self.hosts.iter().map(|h| h.name.as_str()).collect();
            return Err(Error::Usage(format!(
                "--host {unknown}: no such host; the hosts are {}",
                all.join(", ")
            )));
        }
        if !names.is_empty() {
            self.hosts.retain(|h| names.contains(&h.name));
        }
        Ok(())
    }

    /// The folder of the fleet file, to which paths in it are relative.
    pub(crate) fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }

    /// An ssh to a host, with these arguments before and after its name.
    pub(crate) fn ssh(&self, host: &Host, before: &[&str], after: &[&str]) -> Command {
        let mut command = Command::new(&self.ssh_program);
        if let Some(config) = &self.ssh_config {
            command.arg("-F").arg(config);
        }
        // No password prompts; dead connections are detected; no shared connections stay open.
        let connect = self.patience.as_secs().max(1);
        command.args(["-o", "BatchMode=yes", "-o", &format!("ConnectTimeout={connect}")]);
        for option in ["ServerAliveInterval=5", "ServerAliveCountMax=3", "ControlMaster=no", "LogLevel=ERROR"]
        {
            command.args(["-o", option]);
        }
        command.args(["-o", "RemoteCommand=none", "-o", "RequestTTY=no"]);
        if let Some(port) = host.port {
            command.args(["-p", &port.to_string()]);
        }
        command.arg("-T").args(before).arg("--").arg(&host.ssh).args(after);
        command
    }
}

impl FleetFile {
    fn check(&self, doc: &Document) -> Result<(), wayhop_document::Error> {
        if self.hosts.is_empty() || self.hosts.len() > MOST_HOSTS {
            let reason = format!("{} hosts", self.hosts.len());
            return Err(doc.error("hosts", reason, format!("give 1 to {MOST_HOSTS}")));
        }
        let numbers: [(&str, bool, &str); 5] = [
            ("jobs", is_within(self.jobs, 1, 64), "give 1 to 64"),
            ("timeout_s", is_within(self.timeout_s, 1, 3600), "give 1 to 3600 s"),
            ("min_free_mib", is_within(self.min_free_mib, 0, 1 << 30), "give at most 1073741824 MiB"),
            ("max_clock_offset_s", is_within(self.max_clock_offset_s, 0.0, 1e9), "give 0 to 1000000000 s"),
            ("fetch_limit_mib", is_within(self.fetch_limit_mib, 1, 1 << 30), "give 1 to 1073741824 MiB"),
        ];
        if let Some((key, _, remedy)) = numbers.iter().find(|(_, ok, _)| !ok) {
            return Err(doc.error(key, "out of range", *remedy));
        }
        if self.files.len() > MOST_FILES {
            return Err(doc.error("files", "too many files", format!("give at most {MOST_FILES}")));
        }
        for (i, path) in self.files.iter().enumerate() {
            if !is_inside(path) {
                let reason = format!("{} is not in the folder of the fleet file or below it", path.display());
                let remedy = "give a path without .. and without control characters";
                return Err(doc.error(&format!("files[{i}]"), reason, remedy));
            }
        }
        if self.ssh_program.as_ref().is_some_and(|p| p.is_empty() || has_control(p)) {
            return Err(doc.error(
                "ssh_program",
                "not the name of a program",
                "remove the key, or give a path",
            ));
        }
        check_folder(self.directory.as_deref(), "directory", doc)?;
        check_program(self.wayhop.as_deref(), "wayhop", doc)?;
        check_sets(&self.sets, "sets", doc)?;
        let hosts: Vec<&str> = self.hosts.iter().map(|h| h.name.as_str()).collect();
        program::check(&self.start, &hosts, doc)?;
        let mut names = BTreeSet::new();
        for (i, host) in self.hosts.iter().enumerate() {
            host.check(i, doc)?;
            if !names.insert(&host.name) {
                let reason = format!("two hosts are named {:?}", host.name);
                let remedy = "give each host a different name";
                return Err(doc.error(&format!("hosts[{i}].name"), reason, remedy));
            }
        }
        Ok(())
    }
}

impl HostFile {
    fn check(&self, i: usize, doc: &Document) -> Result<(), wayhop_document::Error> {
        let key = |name: &str| format!("hosts[{i}].{name}");
        let wrong = |name: &str, reason: String, remedy: &str| Err(doc.error(&key(name), reason, remedy));
        // Its files here are NAME, NAME.log and NAME.programs.
        let extension = Path::new(&self.name).extension();
        if !is_name(&self.name) || extension.is_some_and(|e| e == "log" || e == "programs") {
            let remedy = "use at most 64 letters, digits and . _ -, starting with a letter or digit and not ending in \
                .log or .programs; set the ssh destination with `ssh`";
            return wrong("name", format!("{:?} is not a valid name of a host", self.name), remedy);
        }
        if let Some(to) = self.ssh.as_ref().filter(|to| !is_destination(to)) {
            let remedy = "give HOST, USER@HOST, or a name of your ssh configuration";
            return wrong("ssh", format!("{to:?} is not a destination for ssh"), remedy);
        }
        let others = self.interfaces.iter().enumerate().map(|(n, name)| (format!("interfaces[{n}]"), name));
        for (at, name) in std::iter::once(("interface".to_owned(), &self.interface)).chain(others) {
            if !is_interface(name) {
                let reason = format!("{name:?} is not a valid name of an interface");
                return wrong(&at, reason, "use 1 to 15 characters without spaces, / and :");
            }
        }
        if let Some(at) = self.gpsd.as_ref().filter(|at| !is_host_and_port(at)) {
            return wrong(
                "gpsd",
                format!("{at:?} is not HOST:PORT"),
                "give an address such as localhost:2947",
            );
        }
        check_folder(self.directory.as_deref(), &key("directory"), doc)?;
        check_program(self.wayhop.as_deref(), &key("wayhop"), doc)?;
        check_sets(&self.sets, &key("sets"), doc)
    }

    fn resolve(&self, all: &FleetFile, doc: &Document, i: usize, names: &[String]) -> Result<Host, Error> {
        let node = match &self.node {
            Some(NodeName::Number(n)) => n.to_string(),
            Some(NodeName::Name(name)) => name.clone(),
            None => self.name.clone(),
        };
        let index = node_named(names, &node).ok_or_else(|| {
            let key = if self.node.is_some() { "node" } else { "name" };
            let reason = format!("the scenario has no node {node:?}");
            let remedy = format!("give one of {}", names[..names.len().min(12)].join(", "));
            doc.error(&format!("hosts[{i}].{key}"), reason, remedy)
        })?;
        let directory = self.directory.as_ref().or(all.directory.as_ref());
        Ok(Host {
            name: self.name.clone(),
            ssh: self.ssh.clone().unwrap_or_else(|| self.name.clone()),
            port: self.port,
            node: names[index].clone(),
            interfaces: std::iter::once(&self.interface).chain(&self.interfaces).cloned().collect(),
            gpsd: self.gpsd.clone(),
            directory: directory.map_or(DIRECTORY, String::as_str).trim_end_matches('/').to_owned(),
            wayhop: self.wayhop.clone().or_else(|| all.wayhop.clone()),
            sudo: self.sudo.unwrap_or(all.sudo),
            sets: all.sets.iter().chain(&self.sets).cloned().collect(),
            programs: all.start.iter().filter(|p| p.is_for(&self.name)).cloned().collect(),
        })
    }
}

/// A text that ssh cannot read as an option, and a shell reads as one word.
fn is_destination(text: &str) -> bool {
    (1..=255).contains(&text.len())
        && !text.starts_with('-')
        && text.chars().all(|c| {
            c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '@' | ':' | '[' | ']' | '%' | '+' | '/')
        })
}

/// The kernel's rule (dev_valid_name), and not an option of a command.
fn is_interface(name: &str) -> bool {
    (1..16).contains(&name.len())
        && name != "."
        && name != ".."
        && !name.starts_with('-')
        && name.chars().all(|c| c.is_ascii_graphic() && c != '/' && c != ':')
}

fn is_host_and_port(text: &str) -> bool {
    text.rsplit_once(':').is_some_and(|(host, port)| {
        is_destination(host) && !host.contains('@') && port.parse::<u16>().is_ok_and(|p| p > 0)
    })
}

/// A relative path that does not leave its folder.
pub(crate) fn is_inside(path: &Path) -> bool {
    path.to_str().is_some_and(|t| !t.is_empty() && !has_control(t))
        && path
            .components()
            .all(|c| matches!(c, Component::Normal(name) if !name.to_string_lossy().starts_with('-')))
}

/// A key that may be left out is within these bounds.
fn is_within<T: PartialOrd>(value: Option<T>, least: T, most: T) -> bool {
    value.is_none_or(|v| (least..=most).contains(&v))
}

fn check_folder(text: Option<&str>, key: &str, doc: &Document) -> Result<(), wayhop_document::Error> {
    let Some(text) = text else { return Ok(()) };
    let path = Path::new(text);
    let named = path.components().filter(|c| matches!(c, Component::Normal(_))).count();
    let plain = path.components().all(|c| matches!(c, Component::Normal(_) | Component::RootDir));
    if named == 0 || !plain || has_control(text) || text.len() > 1024 || text.starts_with(['-', '~']) {
        return Err(doc.error(
            key,
            format!("{text:?} is not a valid folder for the fleet"),
            "give an absolute path such as /var/tmp/wayhop-fleet, or one relative to the user's home there",
        ));
    }
    Ok(())
}

fn check_program(text: Option<&str>, key: &str, doc: &Document) -> Result<(), wayhop_document::Error> {
    match text {
        Some(t) if t.is_empty() || has_control(t) || t.starts_with('-') => Err(doc.error(
            key,
            format!("{t:?} is not a program"),
            "give a path or a name, such as /usr/bin/wayhop",
        )),
        _ => Ok(()),
    }
}

fn check_sets(sets: &[String], key: &str, doc: &Document) -> Result<(), wayhop_document::Error> {
    for (i, set) in sets.iter().enumerate() {
        let taken = ["run=", "interface=", "interfaces="].iter().any(|t| set.replace(' ', "").starts_with(t));
        if !set.contains('=') || has_control(set) || set.len() > 4096 || taken {
            return Err(doc.error(
                &format!("{key}[{i}]"),
                format!("{set:?} cannot be set for a host"),
                "give path.key=value, as for `wayhop node --set`; `run` and interfaces are set from the host",
            ));
        }
    }
    if sets.len() > MOST_FILES {
        return Err(doc.error(key, "too many settings", format!("give at most {MOST_FILES}")));
    }
    Ok(())
}

/// Replaces the scenario reader's reference to its own page.
fn in_our_words(mut e: wayhop_document::Error) -> wayhop_document::Error {
    e.remedy = e
        .remedy
        .replace("; paths in a scenario are relative to its folder", "")
        .replace("docs/reference/scenario.md", "docs/concepts/fleet.md");
    e
}

/// Size of a file to send.
pub(crate) fn size(path: &Path) -> Result<u64, Error> {
    let meta =
        fs::metadata(path).map_err(|e| Error::System(format!("cannot read {}: {e}", path.display())))?;
    Ok(meta.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HOST: &str = "[[hosts]]\nname = \"a\"\ninterface = \"wlan0\"\n";

    fn wrong(text: &str) -> String {
        Fleet::check_text(text).unwrap_err().to_string()
    }

    #[test]
    fn what_could_be_an_option_or_a_command_is_refused() {
        let good = format!("scenario = \"s.toml\"\n{HOST}");
        assert_eq!(Fleet::check_text(&good).unwrap(), 1);
        for (key, value) in [
            ("ssh", "-oProxyCommand=touch /tmp/x"),
            ("ssh", "a b"),
            ("ssh", "$(id)"),
            ("gpsd", "-x:1"),
            ("gpsd", "localhost"),
            ("directory", "../up"),
            ("directory", "/"),
            ("directory", "~/x"),
            ("wayhop", "-c"),
        ] {
            let message = wrong(&format!("{good}{key} = {value:?}\n"));
            assert!(message.contains(&format!("hosts[0].{key}")), "{message}");
        }
        for (key, value) in [
            ("name", "\"../gpsd\""),
            ("command", "[]"),
            ("command", "[\"-c\"]"),
            ("command", "[\"sh\", \"a\\nb\"]"),
            ("hosts", "[\"b\"]"),
            ("at_s", "nan"),
            ("for_s", "0"),
        ] {
            let mut program = vec![("name", "\"gpsd\""), ("command", "[\"gpsd\"]")];
            program.retain(|(k, _)| *k != key);
            let lines: Vec<String> =
                program.iter().chain([&(key, value)]).map(|(k, v)| format!("{k} = {v}")).collect();
            let lines = lines.join("\n");
            let message = wrong(&format!("{good}[[start]]\n{lines}"));
            assert!(message.contains(&format!("start[0].{key}")), "{message}");
        }
        let twice = "[[start]]\nname = \"x\"\ncommand = [\"id\"]\n".repeat(2);
        assert!(wrong(&format!("{good}{twice}")).contains("start[1].name"));
        for text in [
            "scenario = \"s.toml\"\nhosts = []\n".to_owned(),
            format!("scenario = \"s.toml\"\njobs = 0\n{HOST}"),
            format!("scenario = \"s.toml\"\nfiles = [\"../x\"]\n{HOST}"),
            format!("scenario = \"s.toml\"\nsets = [\"run=/tmp\"]\n{HOST}"),
            format!("scenario = \"s.toml\"\n{HOST}{HOST}"),
            format!("scenario = \"s.toml\"\n{}", HOST.replace("wlan0", "wl an0")),
            format!("scenario = \"s.toml\"\n{}", HOST.replace("\"a\"", "\"../a\"")),
            "scenario = 1\n".to_owned(),
        ] {
            assert!(!wrong(&text).is_empty(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_taken_or_refused(text in "[ -~\n]{0,200}", key in "[a-z_]{1,12}") {
            let _ = Fleet::check_text(&text);
            let _ = Fleet::check_text(&format!("scenario = \"s\"\n{key} = {text:?}\n{HOST}{key} = {text:?}\n"));
        }
    }

    #[test]
    fn the_documentation_has_every_key() {
        let page = include_str!("../../../../docs/concepts/fleet.md");
        let schema = serde_json::to_value(schemars::schema_for!(FleetFile)).unwrap();
        for keys in [
            &schema["properties"],
            &schema["$defs"]["HostFile"]["properties"],
            &schema["$defs"]["Program"]["properties"],
        ] {
            let keys = keys.as_object().unwrap();
            assert!(keys.len() > 5);
            for key in keys.keys() {
                let row = page.lines().any(|l| {
                    l.starts_with("| ") && l.split('|').nth(1).unwrap().contains(&format!("`{key}`"))
                });
                assert!(row, "{key} has no row");
            }
        }
    }
}
