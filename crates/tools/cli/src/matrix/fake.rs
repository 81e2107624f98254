//! `wayhop matrix fake`.

use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use wayhop_control::{Client, LinkState, MAX_PATH_LOSS_DB, NodeRef, Request};
use wayhop_matrix::device::{Fake, Faults};
use wayhop_matrix::pairs;
use wayhop_runs::interruption::stop_on_signal;

use super::args::BoxArgs;
use super::places::run_of;
use crate::failure::{Failure, out, say, usage};
use crate::scenario_args::whole;

pub(crate) const EXAMPLES: &str = "\
Behaves like Mini-Circuits' RCDAT boxes, rejects what they reject, and can apply the path losses of its settings to an emulation or \
a paced simulation.

Examples:
  wayhop matrix fake --radios 4 --buses 2
  wayhop matrix fake --radios 5 --run chain-5 --telnet 127.0.0.1:2323      and in another terminal:
  wayhop matrix drive my-walk.toml --box 127.0.0.1:2323";

#[derive(Debug, clap::Args)]
pub(crate) struct FakeArgs {
    /// Number of radios that the box has ports for
    #[arg(long, value_name = "N", value_parser = whole(2..=64_usize), allow_negative_numbers = true)]
    radios: usize,
    #[command(flatten)]
    of_box: BoxArgs,
    /// Address for telnet; port 0 picks a free port
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    telnet: SocketAddr,
    /// Address for HTTP; port 0 picks a free port
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    http: SocketAddr,
    /// Apply its path losses to the links of this emulation or paced simulation
    #[arg(long, value_name = "NAME")]
    run: Option<String>,
    /// Drop each telnet connection after N commands
    #[arg(long, value_name = "N", value_parser = whole(1..=u32::MAX), allow_negative_numbers = true)]
    break_after: Option<u32>,
    /// Delay of each answer, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 0, value_parser = whole(0..=60_000_u64), allow_negative_numbers = true)]
    delay: u64,
}

/// Interval between updates of the run.
const EVERY: Duration = Duration::from_millis(50);
/// Smaller changes of a path loss are not sent, dB.
const SAME_DB: f64 = 1e-6;

pub(super) fn fake(a: &FakeArgs) -> Result<(), Failure> {
    let switch = a.of_box.switch(a.radios)?;
    let attenuators = switch.attenuators();
    let mut links = a.run.as_deref().map(|name| Links::open(name, a.radios)).transpose()?;
    let stop = stop_on_signal()?;
    let fake =
        Fake::new(switch, Faults { breaks_after: a.break_after, delay: Duration::from_millis(a.delay) });
    let serve = |at, http| {
        fake.serve(at, http).map_err(|e| usage!("cannot listen on {at}: {e}; choose another address"))
    };
    out!("telnet://{}\nhttp://{}", serve(a.telnet, false)?, serve(a.http, true)?)?;
    say!("virtual box with {attenuators} attenuators, all at maximum attenuation; stop with Ctrl-C");
    while !stop.load(Ordering::Relaxed) {
        if let Some(links) = &mut links
            && !links.make(&fake.path_losses_db())?
        {
            say!("the run has ended");
            return Ok(());
        }
        thread::sleep(EVERY);
    }
    Ok(())
}

/// The links of a running run, whose path losses the box sets.
struct Links {
    client: Client,
    nodes: Vec<u32>,
    /// Path losses sent last, dB.
    told: Vec<f64>,
}

impl Links {
    fn open(name: &str, radios: usize) -> Result<Self, Failure> {
        let (client, about) = run_of(name)?;
        if about.nodes.len() != radios {
            return Err(usage!(
                "{name} has {} nodes, but the box has ports for {radios} radios; use --radios {}",
                about.nodes.len(),
                about.nodes.len()
            ));
        }
        let links = pairs(radios).count();
        Ok(Self { client, nodes: about.nodes.iter().map(|n| n.node).collect(), told: vec![f64::NAN; links] })
    }

    /// Sends the changed path losses to the run. False if it has ended.
    fn make(&mut self, losses_db: &[f64]) -> Result<bool, Failure> {
        for (link, (i, j)) in pairs(self.nodes.len()).enumerate() {
            let db = losses_db[link].clamp(0.0, MAX_PATH_LOSS_DB);
            if (db - self.told[link]).abs() < SAME_DB {
                continue;
            }
            let [a, b] = [i, j].map(|n| NodeRef::Number(self.nodes[n]));
            let request =
                Request::SetLink { a, b, state: LinkState::PathLoss(db), one_way: false, interface: None };
            match self.client.ask(None, request) {
                Ok(_) => self.told[link] = db,
                Err(wayhop_control::ClientError::Refused(e)) => return Err(Failure::run(e)),
                Err(_) => return Ok(false),
            }
        }
        // Without a request, the end of the run would go unnoticed.
        Ok(self.client.ask(None, Request::Hello {}).is_ok())
    }
}
