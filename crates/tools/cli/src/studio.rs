//! `wayhop studio`.

use std::io::{IsTerminal as _, stdout};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use wayhop_studio::Editing;

use crate::failure::{Failure, out, say, usage};
use crate::scenario_args::whole;

pub(crate) const EXAMPLES: &str = "\
Serves a page to browsers on this machine until Ctrl-C; it loads nothing from elsewhere. With a scenario, the page edits nodes, \
trajectories, flows and settings, shows links and hops over time as you draw, saves the scenario file and runs it. With --live it \
follows the emulations, labs and nodes running on this machine, and you can drag nodes. With --listen, others can open the page at \
the printed address, which contains a token. The connection is not encrypted; on untrusted networks use a tunnel: \
ssh -L 8080:localhost:8080 HOST

Examples:
  wayhop studio runs/first-dsr-1
  wayhop studio                                     the runs in the folder runs
  wayhop studio runs --port 8080 --no-browser
  wayhop studio runs --listen 0.0.0.0
  wayhop studio runs/dsr runs/aodv                  two runs in parallel
  wayhop studio my-scenario.toml                    the editor; a new file starts empty
  wayhop studio --live                              everything running: wayhop ctl list
  wayhop studio --live chain-5                      one of them";

#[derive(Debug, clap::Args)]
pub(crate) struct StudioArgs {
    /// Run directory, a folder of run directories, or a scenario file (.toml) to edit
    #[arg(default_value = "runs", value_name = "RUN|SCENARIO")]
    pub(crate) run: PathBuf,
    /// Second run directory, to compare with the first
    #[arg(value_name = "RUN")]
    pub(crate) beside: Option<PathBuf>,
    /// Folder for runs of an edited scenario
    #[arg(long, value_name = "FOLDER", default_value = "runs")]
    pub(crate) runs: PathBuf,
    /// TCP port to listen on. Default: a free port
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true, value_parser = whole(0..=u16::MAX))]
    pub(crate) port: u16,
    /// Address to listen on. Default: localhost only
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST), hide_default_value = true)]
    pub(crate) listen: IpAddr,
    /// Follow everything running on this machine, or only the emulation, lab or node NAME
    #[cfg(feature = "linux")]
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = "")]
    pub(crate) live: Option<String>,
    /// Print the address without opening a browser
    #[arg(long)]
    pub(crate) no_browser: bool,
}

pub(crate) fn studio(a: &StudioArgs) -> Result<(), Failure> {
    let at = SocketAddr::new(a.listen, a.port);
    let on_desktop = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|v| std::env::var_os(v).is_some());
    // A token must not appear in the list of processes.
    let edits = a.run.extension() == Some("toml".as_ref());
    #[cfg(feature = "linux")]
    let follows = a.live.is_some();
    #[cfg(not(feature = "linux"))]
    let follows = false;
    if edits && follows {
        return Err(usage!(
            "--live follows running nodes and cannot be combined with a scenario to edit; give one of them"
        ));
    }
    if a.beside.is_some() && (edits || follows) {
        return Err(usage!(
            "only two recorded runs can be compared: give two run directories, without --live"
        ));
    }
    let has_token = edits || follows || !a.listen.is_loopback();
    let opens = !a.no_browser && on_desktop && stdout().is_terminal() && !has_token;
    let mut told = Ok(());
    let ready = |address: &str| {
        told = out!("{address}");
        if a.listen.is_unspecified() {
            say!(
                "studio is listening on all addresses of this machine; each works in the URL, with the same token"
            );
        }
        say!("studio is running; stop with Ctrl-C");
        if opens {
            let mut browser = Command::new("xdg-open");
            // Without xdg-open, the user has the printed address.
            let _ = browser.arg(address).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        }
    };
    #[cfg(feature = "linux")]
    if let Some(name) = &a.live {
        let name = (!name.is_empty()).then(|| name.clone());
        wayhop_studio::serve_live(name, &a.run, at, ready).map_err(Failure::Usage)?;
        return told;
    }
    if edits {
        // If the scenario names a library, it must be loaded before the page can ask for anything. The page shows other errors.
        let _ = wayhop_scenario::Scenario::load(&a.run, &[]);
        let program = std::env::current_exe()
            .map_err(|e| usage!("cannot find the wayhop program to run scenarios: {e}"))?;
        let editing = Editing { scenario: a.run.clone(), runs: a.runs.clone(), program };
        wayhop_studio::serve_editor(editing, at, ready)
    } else if let Some(beside) = &a.beside {
        wayhop_studio::serve_pair([&a.run, beside], at, ready)
    } else {
        wayhop_studio::serve(&a.run, at, ready)
    }
    .map_err(Failure::Usage)?;
    told
}
