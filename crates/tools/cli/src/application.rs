//! `wayhop application`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use wayhop_application_host::{Figures, Settings, Watcher, run};
use wayhop_scenario::configure_application;

use crate::failure::{Failure, harmless, json_line, out, put, say, usage};
use crate::scenario_args::{seconds, whole};

pub(crate) const EXAMPLES: &str = "\
Needs root only for a port below 1024. The same code runs as [[applications]] of a scenario, in simulation, emulation and lab; \
docs/reference/scenario.md lists the applications and their parameters. `wayhop exec` starts one by hand in a node of an emulation \
or a lab.

Examples:
  wayhop application request                                    # a server at UDP port 7070
  wayhop application request --set server=10.0.0.3 --set think_s=0.5 --for 60
  wayhop application request --set server=10.0.0.3 --record requests.jsonl --json";

/// The application, and how it runs.
#[derive(Debug, clap::Args)]
pub(crate) struct ApplicationArgs {
    /// Name of the application, or path of a shared library or Python module with one
    #[arg(value_name = "NAME")]
    name: String,
    /// Set a parameter of the application (repeatable)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    sets: Vec<String>,
    /// This host's address in the mesh, IPv4 or IPv6; the application sends packets of that version. Default: any IPv4 address
    #[arg(long, value_name = "ADDRESS")]
    address: Option<IpAddr>,
    /// Seed of the application's random numbers
    #[arg(long, default_value_t = 1, value_parser = whole(0..=u64::MAX))]
    seed: u64,
    /// Number of this instance; instances with the same seed need different numbers
    #[arg(long, default_value_t = 0, value_parser = whole(0..=u32::MAX))]
    number: u32,
    /// Address of gpsd, for applications that use positions
    #[arg(long, value_name = "HOST:PORT")]
    gpsd: Option<String>,
    /// Append events, and counters once a second, to this file, one JSON object per line
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Record the application's inputs for `wayhop replay`; compressed if the name ends in .gz
    #[arg(long, value_name = "FILE")]
    record_inputs: Option<PathBuf>,
    /// Exit after this many seconds. Default: run until Ctrl-C or SIGTERM
    #[arg(long = "for", value_name = "SECONDS", value_parser = seconds)]
    duration_s: Option<f64>,
    /// Print the counters as one JSON object
    #[arg(long)]
    json: bool,
    /// Print only the result
    #[arg(long, short)]
    quiet: bool,
}

pub(crate) fn application(a: &ApplicationArgs) -> Result<(), Failure> {
    let application = configure_application(&a.name, &a.sets)?;
    if !application.parameters.links().is_empty() {
        return Err(usage!("{} is a part of a host's network layer: run it with wayhop mobile-ip", a.name));
    }
    let addr = a.address.unwrap_or(Ipv4Addr::UNSPECIFIED.into());
    let settings = Settings {
        addr,
        listen: if addr.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() },
        seed: a.seed,
        number: a.number,
        record: a.record.clone(),
        gpsd: a.gpsd.clone(),
        ..Settings::default()
    };
    let logs = a.record_inputs.as_ref().map(|path| settings.log(path, &application)).transpose();
    let until = a.duration_s.map(|s| Instant::now() + Duration::from_secs_f64(s));
    let mut terminal = Terminal { about: format!("{} runs", a.name), until, is_quiet: a.quiet };
    let figures =
        run(application.parameters.application(None), &settings, logs.map_err(Failure::run)?, &mut terminal)
            .map_err(Failure::run)?;
    if a.json {
        return put(json_line(&figures)?);
    }
    let width = figures.keys().map(String::len).max().unwrap_or(0);
    figures.iter().try_for_each(|(name, value)| out!("{name:width$}  {value}"))
}

/// Prints what people should know, and ends an application in time.
pub(crate) struct Terminal {
    /// What runs.
    pub(crate) about: String,
    pub(crate) until: Option<Instant>,
    pub(crate) is_quiet: bool,
}

impl Watcher for Terminal {
    fn ready(&mut self) {
        if !self.is_quiet {
            say!("{}", self.about);
        }
    }
    fn remark(&mut self, text: &str) {
        if !self.is_quiet {
            say!("info: {}", harmless(text));
        }
    }
    fn wants_end(&mut self, _: &Figures) -> bool {
        self.until.is_some_and(|at| Instant::now() >= at)
    }
}
