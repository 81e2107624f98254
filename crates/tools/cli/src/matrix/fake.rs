//! `wayhop matrix fake`.

use std::io::{Write as _, stdout};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use wayhop_control::{Client, LinkState, MAX_PATH_LOSS_DB, NodeRef, Request};
use wayhop_matrix::device::{Fake, Faults};
use wayhop_matrix::pairs;
use wayhop_runs::interruption::stop_on_signal;

use super::args::FakeArgs;
use super::run::run_of;
use crate::failure::{Failure, output, say};

/// Interval between updates of the run.
const EVERY: Duration = Duration::from_millis(50);
/// Smaller changes of a path loss are not sent, dB.
const SAME_DB: f64 = 1e-6;

pub(super) fn fake(a: &FakeArgs) -> Result<ExitCode, Failure> {
    let switch = a.of_box.switch(a.radios)?;
    let attenuators = switch.attenuators();
    let mut links = a.run.as_deref().map(|name| Links::open(name, a.radios)).transpose()?;
    let stop = stop_on_signal()?;
    let fake =
        Fake::new(switch, Faults { breaks_after: a.break_after, delay: Duration::from_millis(a.delay) });
    let serve = |at, http| {
        fake.serve(at, http)
            .map_err(|e| Failure::Usage(format!("cannot listen on {at}: {e}; choose another address")))
    };
    let text = format!("telnet://{}\nhttp://{}\n", serve(a.telnet, false)?, serve(a.http, true)?);
    output(stdout().write_all(text.as_bytes()).and_then(|()| stdout().flush()))?;
    say!("virtual box with {} attenuators, all at maximum attenuation; stop with Ctrl-C", attenuators);
    while !stop.load(Ordering::Relaxed) {
        if let Some(links) = &mut links
            && !links.make(&fake.path_losses_db())?
        {
            say!("the run has ended");
            return Ok(ExitCode::SUCCESS);
        }
        thread::sleep(EVERY);
    }
    Ok(ExitCode::SUCCESS)
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
            return Err(Failure::Usage(format!(
                "{name} has {} nodes, but the box has ports for {radios} radios; use --radios {}",
                about.nodes.len(),
                about.nodes.len()
            )));
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
