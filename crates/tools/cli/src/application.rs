//! `wayhop application`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use wayhop_application_host::{Figures, Settings, Watcher, run};
use wayhop_scenario::configure_application;

use crate::failure::{Failure, harmless, json_line, out, put, say, usage};

pub(crate) const EXAMPLES: &str = "\
Needs no rights beyond those of its port. In scenarios, [[applications]] runs the same in simulation, emulation and lab. \
docs/reference/scenario.md lists the applications and their parameters; in a lab or an emulation, `wayhop exec` starts one by hand.

Examples:
  wayhop application request                                    # a server at UDP port 7070
  wayhop application request --set server=10.0.0.3 --set think_s=0.5 --for 60
  wayhop application request --set server=10.0.0.3 --record requests.jsonl --json";

/// The application, and how it runs.
#[derive(Debug, clap::Args)]
pub(crate) struct ApplicationArgs {
    /// Which application
    #[arg(value_name = "NAME")]
    name: String,
    /// A parameter, KEY=VALUE; may be given several times
    #[arg(long = "set", value_name = "KEY=VALUE")]
    sets: Vec<String>,
    /// This host's address in the mesh; its family is the one in which the application sends [default: any IPv4 address]
    #[arg(long, value_name = "ADDRESS")]
    address: Option<IpAddr>,
    /// Seed of what it draws
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Its number among several with one seed, which draw different numbers
    #[arg(long, default_value_t = 0)]
    number: u32,
    /// Where gpsd is, HOST:PORT, for applications that use positions
    #[arg(long, value_name = "HOST:PORT")]
    gpsd: Option<String>,
    /// Append what it notes, and each second what it has counted, to this file: a JSON object a line
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Log what goes into it, for `wayhop replay`; compressed if the name ends in .gz
    #[arg(long, value_name = "FILE")]
    record_inputs: Option<PathBuf>,
    /// Exit after this many seconds; otherwise with Ctrl-C or SIGTERM
    #[arg(long = "for", value_name = "SECONDS", value_parser = crate::scenario_args::seconds)]
    duration_s: Option<f64>,
    /// Print what it counted as a JSON object
    #[arg(long)]
    json: bool,
    /// Say nothing but the result
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
        run(application.parameters.application(), &settings, logs.map_err(Failure::run)?, &mut terminal)
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
