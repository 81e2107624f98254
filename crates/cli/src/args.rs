//! The command line. Its spellings are a contract: they are added to, never changed.

use std::path::PathBuf;

use clap::{CommandFactory as _, Parser, Subcommand};

use wayhop_sweep::Seeds;

use crate::import_args::ImportArgs;
#[cfg(feature = "linux")]
use crate::node_args::NodeArgs;
use crate::scenario_args::{SourceArgs, seconds, whole};
#[cfg(feature = "linux")]
use crate::scenario_args::{metres, speed};

const ENDING: &str = "\
Exit codes: 0, done; 1, something went wrong; 2, what was given cannot be used; 126 and 127, a COMMAND cannot be run, is \
not there; 130, stopped. docs/reference/exit-codes.md has the whole table.

Begin with: wayhop run scenarios/first.toml";

const EXAMPLES: &str = "\
Examples:
  wayhop run scenarios/first.toml
  wayhop run scenarios/first.toml --seeds 10
  wayhop run scenarios/first.toml --pace 10
  wayhop run scenarios/first.toml --set protocol.name=aodv --set movement.speed_max_mps=5 --captures
  wayhop run --movement M.tcl --traffic T.tcl --protocol dsr --profile ns2 --duration 900 --json
  wayhop run scenarios/first.toml --set radio.preset=80211g --check";

#[cfg(feature = "linux")]
const EMULATE_EXAMPLES: &str = "\
Needs root. In each node the others are mesh-0, mesh-1, ...; the interface is mesh0. A scenario's `programs` run in its \
nodes; with a COMMAND, which has the terminal, the run ends when that does.

Examples:
  wayhop emulate scenarios/chain.toml --node 0 -- ping -c 5 mesh-4
  wayhop emulate scenarios/chain.toml --duration 60         and in another terminal:
  wayhop exec 4 -- iperf3 -s                                and in a third:
  wayhop exec 0 -- iperf3 -c mesh-4";

#[cfg(feature = "linux")]
const EXEC_EXAMPLES: &str = "\
Examples:
  wayhop exec 0 -- ping mesh-3
  wayhop exec --run chain gateway -- bash";

const REPRODUCE_EXAMPLE: &str = "\
Writes DIR/report.html, DIR/rows.json, DIR/rows.csv, and the scenarios into DIR/scenarios.

Examples:
  wayhop reproduce cmu --seeds 10 --out runs/cmu
  wayhop reproduce das --seeds 10 --out runs/das
  wayhop reproduce holland-vaidya --mechanisms elfn,tcp-f --pattern 5
  wayhop reproduce meshtest --seeds 100
  sudo wayhop reproduce meshtest --seeds 20 --emulate
  sudo wayhop reproduce pran --part demonstration --duration 180 --seeds 1";

const DIFF_EXAMPLE: &str = "\
Example:
  wayhop run scenarios/chain.toml --captures --out runs/chain
  wayhop diff runs/chain/captures/left.pcapng runs/chain/captures/1.pcapng --positions runs/chain";

const COMPARE_EXAMPLES: &str = "\
Each RUN is a run directory, or a folder of run directories that differ in their seeds only: then its figures are their \
means. Differences are to the first RUN, of pairs with the same seed if both sides have the same seeds, else of the means with Welch's \
interval. Intervals are of 95 %, and a * marks one of at least five runs that leaves out zero. (3 of 10) says that only 3 of the 10 \
runs have the figure: where nothing arrived there is no latency.

Examples:
  wayhop compare runs/chain-sim runs/chain-emulated runs/chain-lab
  wayhop compare runs/dsr runs/aodv --html comparison.html
  wayhop compare runs/simulated runs/emulated --json           20 seeds in the folder simulated";

const RECOVER_HELP: &str = "\
A run that was killed (kill -9, power failure) has incomplete Parquet files; tables.checkpoint holds the rest, up to at most 5 s before the \
end. Wayhop's own commands read such a run as it is. `recover` completes the files for other programs (polars, pandas), computes \
summary.json and the tables flows and outcomes from the table packets, and sets the status in manifest.json to killed. It refuses runs \
that are still running, and leaves finished ones unchanged.

Examples:
  wayhop recover runs/first-dsr-1
  wayhop recover runs/field/*";

const MERGE_EXAMPLES: &str = "\
The clocks of the nodes need not agree: they are set by frames that several nodes know of. What is printed of each node: by how \
much its clock is ahead of the merged run's at its start, and drifts; standard errors of both; by how much its times can be wrong at most, \
since no frame is received before it is sent; the frames, and those far off. docs/concepts/merge.md says more.

Examples:
  wayhop merge runs/node-1 runs/node-2 runs/node-3 --out runs/walk
  wayhop lab scenarios/chain.toml --node-runs --out runs/lab
  wayhop merge runs/lab/nodes/* --out runs/merged
  wayhop compare runs/lab runs/merged
  wayhop run scenarios/chain.toml --identities --out runs/chain
  wayhop export nodes runs/chain --out runs/nodes --clock left=2.5,40 --clock 3=0.1,-25";

#[cfg(feature = "linux")]
const LAB_EXAMPLES: &str = "\
Needs root, and Debian's packages iproute2 and nftables. The nodes are Ethernet hosts: there is no radio model, and links \
work or do not. Programs in the nodes know each other as mesh-0, mesh-1, ... With a COMMAND, which has the terminal, the \
run ends when that does.

Examples:
  wayhop lab scenarios/chain.toml --protocol aodv
  wayhop lab scenarios/chain.toml --node 0 -- ping -c 5 mesh-4
  wayhop lab scenarios/chain.toml --duration 60             and in another terminal:
  wayhop ctl --run chain link 1 2 down
  wayhop export macfilter scenarios/first.toml --out walk.macfilter
  wayhop lab scenarios/first.toml --macfilter walk.macfilter --captures";

#[cfg(feature = "linux")]
const NODE_EXAMPLES: &str = "\
Needs root, or CAP_NET_ADMIN and CAP_NET_RAW. Ends with SIGINT (Ctrl-C) or SIGTERM, and then sets the \
host back; it does so, too, when it is killed. SIGHUP has it read CONFIG again; without one it ends.

Examples:
  wayhop node --interface wlan0 --address 10.0.0.3/16 --protocol dsr
  wayhop node /etc/wayhop/node.toml --set log=debug
  wayhop node --interface eth1 --address 10.0.0.3/16 --protocol aodv --check
  wayhop node scenarios/chain.toml --as mesh-2 --interface wlan0 --out runs/chain-field";

/// Simulate mobile ad hoc networks with the routing protocols that run on real radios.
#[derive(Debug, Parser)]
#[command(name = "wayhop", version, max_term_width = 100)]
#[command(after_help = ENDING)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Simulate a scenario
    #[command(after_help = EXAMPLES)]
    Run(RunCommand),
    /// List radio presets, protocols' profiles and papers; or print the values of one
    #[command(after_help = crate::presets::EXAMPLES)]
    Presets(crate::presets::PresetsArgs),
    /// Say what movement and range allow: shortest paths, their changes, partitions, links
    #[command(after_help = crate::topology::EXAMPLES)]
    Topology(crate::topology::TopologyArgs),
    /// Emulate distances between real radios with a matrix of programmable attenuators
    #[command(subcommand)]
    Matrix(crate::matrix::MatrixCommand),
    /// Run a scenario in every combination of what a plan or --vary varies, on all cores, and sum up
    #[command(after_help = crate::sweep::EXAMPLES)]
    Sweep(crate::sweep::SweepArgs),
    /// Draw a figure of runs or of a sweep, as SVG, PNG or PDF, with its numbers as CSV
    #[command(after_help = crate::plot::EXAMPLES)]
    Plot(crate::plot::PlotArgs),
    /// Write a page with all figures of runs or of a sweep, and how they were made
    #[command(after_help = crate::report::EXAMPLES)]
    Report(crate::report::ReportArgs),
    #[cfg(feature = "linux")]
    /// Run a scenario on the real clock: each node a network namespace, for real programs
    #[command(after_help = EMULATE_EXAMPLES)]
    Emulate(EmulateArgs),
    #[cfg(feature = "linux")]
    /// Run a command in a node of an emulation or a lab that runs
    #[command(after_help = EXEC_EXAMPLES)]
    Exec(ExecArgs),
    #[cfg(feature = "studio")]
    /// Draw a scenario in a browser, or replay runs: who is where, who hears whom, which way packets go and where they are lost
    #[command(after_help = crate::studio::EXAMPLES)]
    Studio(crate::studio::StudioArgs),
    /// Write a scenario or a run in another tool's format
    #[command(subcommand)]
    Export(ExportArgs),
    /// Make a scenario file of another tool's files
    #[command(subcommand)]
    Import(ImportArgs),
    /// Print the routing messages of a capture, one JSON object a line
    Decode(DecodeArgs),
    /// Feed logs of what went into routing engines to the engines again, and say what they do otherwise
    #[command(after_help = crate::replay::EXAMPLES)]
    Replay(crate::replay::ReplayArgs),
    /// Say why a packet of a run was lost: its story across nodes; or which packets were lost, and why
    #[command(after_help = crate::why::EXAMPLES)]
    Why(crate::why::WhyArgs),
    /// Find the packets that one capture sent and another did not receive, in bursts by time and place
    #[command(after_help = DIFF_EXAMPLE)]
    Diff(DiffArgs),
    /// Set the results of runs side by side, in whatever worlds they were made
    #[command(after_help = COMPARE_EXAMPLES)]
    Compare(CompareArgs),
    /// Unite run directories of field nodes into one, with one clock
    #[command(after_help = MERGE_EXAMPLES)]
    Merge(MergeArgs),
    /// Complete the tables and the summary of a run that was killed
    #[command(after_help = RECOVER_HELP)]
    Recover(crate::recover::RecoverArgs),
    /// Run a paper's experiments again, and set the results beside its numbers
    #[command(after_help = REPRODUCE_EXAMPLE)]
    Reproduce(ReproduceArgs),
    #[cfg(feature = "linux")]
    /// Run a scenario's nodes as daemons on this machine, each in a network namespace, on one Ethernet with a macfilter
    #[command(after_help = LAB_EXAMPLES)]
    Lab(LabArgs),
    #[cfg(feature = "linux")]
    /// Run a routing protocol on this host: one node of a real mesh
    #[command(after_help = NODE_EXAMPLES)]
    Node(NodeArgs),
    #[cfg(feature = "linux")]
    /// Store, carry and forward bundles (delay-tolerant networking), and send and receive them
    #[command(subcommand)]
    Bundle(crate::bundle::BundleCommand),
    #[cfg(feature = "linux")]
    /// Run an application of Wayhop's on this host: what [[applications]] of a scenario runs at a node
    #[command(after_help = crate::application::EXAMPLES)]
    Application(crate::application::ApplicationArgs),
    #[cfg(feature = "linux")]
    /// Keep a host's address while it moves between links (RFC 5944): home agent, foreign agent, mobile node
    #[command(after_help = crate::mobile_ip::EXAMPLES, subcommand)]
    MobileIp(crate::mobile_ip::MobileIpCommand),
    #[cfg(feature = "linux")]
    /// Set back what a node changed (a node starts this by itself)
    #[command(name = wayhop_daemon::UNDO_COMMAND, hide = true)]
    NodeUndo {
        /// Process of the node
        node: u32,
        /// Lists of what to set back
        lists: Vec<PathBuf>,
    },
    #[cfg(feature = "linux")]
    /// Hold the processes of a node (a run starts this by itself)
    #[command(name = wayhop_netns::INIT_COMMAND, hide = true)]
    NodeInit,
    #[cfg(feature = "linux")]
    /// Become a program in a node (a run starts this by itself)
    #[command(name = wayhop_netns::PROGRAM_COMMAND, hide = true)]
    NodeProgram(ProgramArgs),
    #[cfg(feature = "linux")]
    /// Talk to a running emulation, lab or node
    #[command(after_help = crate::ctl::EXAMPLES)]
    Ctl(crate::ctl::CtlArgs),
    #[cfg(feature = "linux")]
    /// Carry a GNSS reference station's corrections through the mesh to each node's receiver
    #[command(subcommand)]
    Corrections(crate::corrections::CorrectionsCommand),
    #[cfg(feature = "linux")]
    /// Check, equip, start and stop the hosts of a field run over ssh, and fetch their records
    #[command(subcommand)]
    Fleet(crate::fleet::FleetCommand),
    #[cfg(feature = "linux")]
    /// Receive the reports of nodes and write them down
    #[command(after_help = crate::collect::EXAMPLE)]
    Collect(crate::collect::CollectArgs),
    #[cfg(feature = "linux")]
    /// Say what this machine lacks for each world, and the remedy
    #[command(after_help = crate::doctor::EXAMPLES)]
    Doctor(crate::doctor::DoctorArgs),
    /// Write the manual pages, one for each command
    #[command(after_help = "Example: wayhop man man1 && man -l man1/wayhop-run.1")]
    Man {
        /// Folder for wayhop.1, wayhop-run.1, ...
        #[arg(default_value = ".")]
        dir: PathBuf,
    },
    /// Print a script that completes this command's arguments in a shell
    #[command(
        after_help = "Example: wayhop completions bash > ~/.local/share/bash-completion/completions/wayhop\n\n\
        With the names of running nodes, too: source <(COMPLETE=bash wayhop)"
    )]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Run directory, in which an older run is replaced; without it runs/SCENARIO-PROTOCOL-SEED, and in another world or with
    /// other settings than an older run's another name: with -emulation, -lab, -2, -3, ...
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write no run directory
    #[arg(long, conflicts_with_all = ["out", "captures", "ns2_trace"])]
    pub(crate) no_out: bool,
    /// Write DIR/captures/NODE.pcapng for every node
    #[arg(long)]
    pub(crate) captures: bool,
    /// Write DIR/trace.tr, in ns-2's old wireless format
    #[arg(long)]
    pub(crate) ns2_trace: bool,
    #[command(flatten)]
    pub(crate) receptions: crate::record::ReceptionArgs,
    /// Record what each packet is known by, in the table `identities`, so that `wayhop export nodes` can write what each node would
    /// have recorded by itself
    #[arg(long, conflicts_with = "no_out")]
    pub(crate) identities: bool,
    #[command(flatten)]
    pub(crate) record: crate::record::RecordArgs,
    /// Say in the summary what the geometry allowed each flow: shortest hops, path changes, partitions
    #[arg(long)]
    pub(crate) topology: bool,
    #[command(flatten)]
    pub(crate) geometry: crate::topology::GeometryArgs,
    /// Print every value in force, where it comes from, and what time and memory a run would take; and make none
    #[arg(long)]
    pub(crate) check: bool,
    /// Print the summary as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress, no warnings, no table
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RunCommand {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Simulate with each of these seeds, on all processors, and print means with 95 % intervals: so many from 1 on, as 10;
    /// or 3..12; or 1,4,9. DIR is then that of a sweep, runs/SCENARIO-PROTOCOL-seeds without --out, and the run directories
    /// are DIR/runs/seed-N
    #[arg(long, value_name = "SEEDS", value_parser = Seeds::parse, allow_hyphen_values = true)]
    pub(crate) seeds: Option<Seeds>,
    /// With --seeds: runs at a time; without it, as many as there are processors
    #[arg(long, value_name = "N", requires = "seeds", value_parser = whole(1..=1024_u32), allow_negative_numbers = true)]
    pub(crate) jobs: Option<u32>,
    /// With --seeds: a figure to sum up, as delivery_ratio or flows.0.latency_ms.p95; may be given again. Without it, all
    /// of the totals
    #[arg(long = "metric", value_name = "FIGURE", requires = "seeds")]
    pub(crate) metrics: Vec<String>,
    /// Simulate so many seconds in a second, as 1 or 10, and answer at a control socket meanwhile: `wayhop studio --live` and
    /// `wayhop ctl` follow the run, move its nodes and take them down
    #[cfg(feature = "linux")]
    #[arg(long, value_name = "SPEED", value_parser = speed, conflicts_with = "seeds", allow_negative_numbers = true)]
    pub(crate) pace: Option<f64>,
}

#[cfg(feature = "linux")]
#[derive(Debug, clap::Args)]
pub(crate) struct EmulateArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// The node in which COMMAND runs: its number, mesh-N, or its name
    #[arg(long, value_name = "NODE", requires = "command")]
    pub(crate) node: Option<String>,
    /// Where Prometheus finds the counters of all nodes, under /metrics
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) metrics: Option<std::net::SocketAddr>,
    /// Has each node report its counters and its place once a second: into the folder `reports` of the run directory, and over
    /// the network to this node, in which `wayhop collect` shows them
    #[arg(long, value_name = "NODE")]
    pub(crate) collector: Option<String>,
    /// Run the scenario's programs with all rights of who starts this, on all files: for scenarios whose programs you have read
    #[arg(long)]
    pub(crate) trust: bool,
    /// A command to run in the node once the mesh is up, with your rights; the run ends with it, and with its exit status
    #[arg(last = true, value_name = "COMMAND", requires = "node")]
    pub(crate) command: Vec<std::ffi::OsString>,
}

#[cfg(feature = "linux")]
#[derive(Debug, clap::Args)]
pub(crate) struct ExecArgs {
    /// The run, if there are several: its scenario's name or the number of its process
    #[arg(long, value_name = "RUN")]
    pub(crate) run: Option<String>,
    /// The node: its number, mesh-N, or its name
    pub(crate) node: String,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<std::ffi::OsString>,
}

#[cfg(feature = "linux")]
#[derive(Debug, clap::Args)]
pub(crate) struct ProgramArgs {
    pub(crate) orders: String,
    #[arg(last = true, required = true)]
    pub(crate) command: Vec<std::ffi::OsString>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ExportArgs {
    /// Movement and traffic files that ns-2 runs
    Ns2 {
        #[command(flatten)]
        source: SourceArgs,
        /// Directory for NAME.movement.tcl and NAME.traffic.tcl
        #[arg(long, value_name = "DIR", default_value = ".")]
        out: PathBuf,
        /// Leave out the `$god_ set-dist` lines
        #[arg(long)]
        no_god: bool,
    },
    #[cfg(feature = "linux")]
    /// Who ignores whose frames from when on, so that those within range hear each other: for `wayhop lab`
    Macfilter {
        #[command(flatten)]
        source: SourceArgs,
        /// How far nodes hear each other, metres, on all radios; without it, as far as each radio reaches in free space and
        /// over flat ground
        #[arg(long, value_name = "M", value_parser = metres, allow_negative_numbers = true)]
        range: Option<f64>,
        /// File to write; without it, standard output
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// A run directory for each node of a run, with what that node would have recorded by itself in the field: for `wayhop merge`
    Nodes {
        /// Run directory, made with --identities
        run: PathBuf,
        /// Directory for the nodes' run directories
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        /// Give a node a clock of its own: its record begins at this second of the run, and its clock is fast by so many
        /// millionths; may be given for several nodes
        #[arg(long, value_name = "NODE=S,PPM", allow_hyphen_values = true)]
        clock: Vec<String>,
    },
    /// A Lua plugin that has Wireshark and tshark read every routing packet of Wayhop: DSDV, authentication, and the options of
    /// DSR that no standard has
    Dissector {
        /// File to write; without it, standard output
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// A table of a run directory as CSV
    Csv {
        /// Run directory
        run: PathBuf,
        /// Table: packets, positions, flows, counters, events, sends, sizes, tcp, connections, outcomes, receptions, bundles, contacts, gps,
        /// identities or nodes
        table: String,
        /// File to write; without it, standard output
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct DecodeArgs {
    /// Capture: pcap or pcapng, of 802.11, Ethernet, Linux cooked (tcpdump -i any), loopback or raw IP frames; - for standard input
    pub(crate) capture: PathBuf,
    /// One JSON object a line; this is also what is printed without it
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct DiffArgs {
    /// Capture of the node that sends: pcap or pcapng
    pub(crate) sent: PathBuf,
    /// Capture of the node that should have received
    pub(crate) heard: PathBuf,
    /// The sending node's interface (02:00:00:00:00:01) or IP address, if its capture does not mark what it sent
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) sender: Option<String>,
    /// Length of the windows in which losses are counted, seconds
    #[arg(long, value_name = "S", value_parser = seconds, default_value = "5", allow_negative_numbers = true)]
    pub(crate) window: f64,
    /// A burst is of windows that each hold more than this share of all losses, per cent
    #[arg(long, value_name = "PERCENT", value_parser = percent, default_value = "1", allow_negative_numbers = true)]
    pub(crate) threshold: f64,
    /// Run directory of both nodes: tells where they were; the captures are named after them, as a run names them
    #[arg(long, value_name = "RUN")]
    pub(crate) positions: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct MergeArgs {
    /// Run directories of single nodes, of one experiment: those of `wayhop node`, of `wayhop lab --node-runs`, of `wayhop export
    /// nodes`
    #[arg(required = true, num_args = 2.., value_name = "RUN")]
    pub(crate) runs: Vec<PathBuf>,
    /// Run directory to write, in which an older run is replaced
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// The node whose clock the times count by: its name or its address; without it, that of the first RUN
    #[arg(long, value_name = "NODE")]
    pub(crate) reference: Option<String>,
    /// Leave out nodes that share no frame with the others, in place of refusing
    #[arg(long)]
    pub(crate) leave_apart: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// No table
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CompareArgs {
    /// Run directories, or folders of them; the first is what the others are compared with
    #[arg(required = true, num_args = 2.., value_name = "RUN")]
    pub(crate) runs: Vec<PathBuf>,
    /// List the figures of each flow below the totals, if all runs have the same flows; --json and --html always do
    #[arg(long)]
    pub(crate) flows: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Write a page with figures and the table
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ReproduceArgs {
    /// Which paper
    pub(crate) paper: Paper,
    /// The first seed of each experiment
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole(0..=1_000_000_000_u64), allow_negative_numbers = true)]
    pub(crate) first_seed: u64,
    /// How many seeds each experiment runs with; without it 30, 5 of pran, whose laps take as long as they say, 50 of
    /// holland-vaidya, where each is a pattern, and 100 of meshtest and mule
    #[arg(long, value_name = "N", value_parser = whole(1..=10_000_u64), allow_negative_numbers = true)]
    pub(crate) seeds: Option<u64>,
    #[cfg(feature = "linux")]
    /// pran: what of it
    #[arg(long, value_name = "PART")]
    pub(crate) part: Option<PranPart>,
    #[cfg(feature = "linux")]
    /// pran: how long the robot takes around the building, seconds; the paper's took 780, and so does ours without it
    #[arg(long, value_name = "S", value_parser = lap, allow_negative_numbers = true)]
    pub(crate) duration: Option<f64>,
    /// holland-vaidya: which mechanisms run besides plain Reno, with commas between them, or none; without it all
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) mechanisms: Vec<MechanismName>,
    /// holland-vaidya: draw this pattern's profile (a seed of those that run); may be given again. Without it the first three
    #[arg(long, value_name = "N", value_parser = whole(0..=u64::MAX))]
    pub(crate) pattern: Vec<u64>,
    #[cfg(feature = "linux")]
    /// meshtest: one run of each experiment in emulation as well, with real iperf3; it takes half an hour and needs root
    #[arg(long)]
    pub(crate) emulate: bool,
    /// Leave the run directory of each simulated run in DIR/runs, where the commands beside the rows would leave it
    #[arg(long)]
    pub(crate) keep_runs: bool,
    /// Runs at a time; without it, as many as there are processors
    #[arg(long, value_name = "N", value_parser = whole(1..=1024_u32), allow_negative_numbers = true)]
    pub(crate) jobs: Option<u32>,
    /// Folder for the report; without it runs/reproduce-PAPER
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the rows as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress, no table
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[cfg(feature = "linux")]
#[derive(Debug, clap::Args)]
pub(crate) struct LabArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Who ignores whose frames, when (`wayhop export macfilter` writes such a file); without it, those out of --range
    #[arg(long, value_name = "FILE", conflicts_with = "range")]
    pub(crate) macfilter: Option<PathBuf>,
    /// How far nodes hear each other, metres, on all radios; without it, as far as each radio reaches in free space and over
    /// flat ground
    #[arg(long, value_name = "M", value_parser = metres, allow_negative_numbers = true)]
    pub(crate) range: Option<f64>,
    /// Run directory, in which an older run is replaced; without it runs/SCENARIO-PROTOCOL-SEED, and in another world or with
    /// other settings than an older run's another name: with -emulation, -lab, -2, -3, ...
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write no run directory
    #[arg(long, conflicts_with_all = ["out", "captures"])]
    pub(crate) no_out: bool,
    /// Write DIR/captures/NODE.pcapng for every node
    #[arg(long)]
    pub(crate) captures: bool,
    /// Have each node's daemon write a run directory of its own, DIR/nodes/NODE, as in the field: for `wayhop merge`
    #[arg(long, conflicts_with = "no_out")]
    pub(crate) node_runs: bool,
    /// Not in a lab: says why
    #[arg(long, value_name = "NODE", num_args = 0.., hide = true)]
    pub(crate) receptions: Option<Vec<String>>,
    #[command(flatten)]
    pub(crate) record: crate::record::RecordArgs,
    /// Print the summary as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress, no warnings, no table
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// The node in which COMMAND runs: its number, mesh-N, or its name
    #[arg(long, value_name = "NODE", requires = "command")]
    pub(crate) node: Option<String>,
    /// Run the scenario's programs with all rights of who starts this, on all files: for scenarios whose programs you have read
    #[arg(long)]
    pub(crate) trust: bool,
    /// A command to run in the node once the mesh is up, with your rights; the run ends with it, and with its exit status
    #[arg(last = true, value_name = "COMMAND", requires = "node")]
    pub(crate) command: Vec<std::ffi::OsString>,
}

/// The papers that can be reproduced.
#[derive(Copy, Clone, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Paper {
    /// Maltz, Broch, Johnson: the CMU testbed (CMU-CS-99-116, 1999)
    Cmu,
    /// Desilva, Das: Experimental Evaluation of a Wireless Ad Hoc Network (2000)
    Das,
    #[cfg(feature = "linux")]
    /// Saha and others: PRAN, routing protocols at user level (real programs; needs root)
    Pran,
    /// Holland, Vaidya: Analysis of TCP Performance over Mobile Ad Hoc Networks, Part II (1999)
    HollandVaidya,
    /// MeshTest: UDP and TCP between radios at a matrix of attenuators
    Meshtest,
    /// A data MULE, as in experiments on MeshTest (Hahn and others, 2008), and routing of bundles (RFC 6693)
    Mule,
}

/// The parts of `reproduce pran`.
#[cfg(feature = "linux")]
#[derive(Copy, Clone, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum PranPart {
    /// Figures 5 and 7 to 9: a robot's video over a mobile mesh
    Demonstration,
    /// Table 1 and Figure 3: what forwarding costs
    Forwarding,
    /// Both, as without this option
    All,
}

/// Mechanisms of `reproduce holland-vaidya`.
#[derive(Copy, Clone, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum MechanismName {
    /// Explicit link failure notification, window and timeout kept
    Elfn,
    /// Explicit link failure notification, window halved
    ElfnHalf,
    /// No doubling of the timeout after the first (Dyer and Boppana)
    FixedRto,
    /// Frozen until there is a route (Chandran and others)
    TcpF,
    /// A quarter of a segment for each hop, one at least (Fu and others)
    WindowByHops,
    /// Segments spread over time (TCP-AP)
    Pacing,
    /// Back-off taken back on ICMP messages
    #[value(name = "rfc-6069")]
    Rfc6069,
    /// Plain Reno only
    None,
}

/// The definition of the command line.
pub fn command() -> clap::Command {
    Args::command()
}

#[cfg(feature = "linux")]
/// Shorter laps end before the video has begun, longer ones are longer than anybody waits.
fn lap(text: &str) -> Result<f64, String> {
    seconds(text).and_then(|s| {
        if (5.0..=7_200.0).contains(&s) { Ok(s) } else { Err("give 5 to 7200 seconds".to_owned()) }
    })
}

fn percent(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(p) if (0.0..=100.0).contains(&p) => Ok(p),
        _ => Err("give a number from 0 to 100".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `max_term_width`; clap would break a longer line wherever it ends.
    const WIDEST: usize = 100;

    #[test]
    fn examples_below_the_options_are_not_broken_anew() {
        fn check(command: &clap::Command) {
            let texts = [command.get_after_help(), command.get_after_long_help()];
            let text = texts.iter().flatten().map(ToString::to_string).collect::<Vec<_>>().join("\n");
            // The others are prose, which may.
            for line in text.lines().filter(|l| l.starts_with(' ')) {
                assert!(line.chars().count() <= WIDEST, "{}: {line}", command.get_name());
            }
            command.get_subcommands().for_each(check);
        }
        check(&command());
    }
}
