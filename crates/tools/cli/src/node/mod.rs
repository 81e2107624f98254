//! `wayhop node`.

mod args;

use std::fs;
use std::io::{Write as _, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

use wayhop_daemon::{Error, Overrides, Settings};

use crate::failure::{Failure, output, say, warn};

pub(crate) use args::{EXAMPLES, NodeArgs};

pub(crate) fn node(a: &NodeArgs) -> Result<ExitCode, Failure> {
    if a.restore {
        return restore(&a.interface);
    }
    let overrides = Overrides {
        interfaces: a.interface.clone(),
        address: a.address.clone(),
        tun: a.tun.clone(),
        protocol: a.protocol.clone(),
        profile: a.profile.clone(),
        macfilter: a.macfilter.clone(),
        inputs: a.record_inputs.clone(),
        node: a.node.clone(),
        run: a.out.clone(),
        sets: a.sets.clone(),
    };
    let settings = Settings::load(a.config.as_deref(), &overrides)?;
    if a.check {
        for remark in &settings.remarks {
            say!("info: {remark}");
        }
        warn(&settings.unauthenticated());
        let text = settings.to_toml()?;
        output(stdout().write_all(text.as_bytes()))?;
        settings.check_host()?;
        return Ok(ExitCode::SUCCESS);
    }
    let outcome = wayhop_daemon::run(&settings, a.tied)?;
    let text = serde_json::to_string(&outcome.summary).map_err(Failure::run)?;
    if let Some(path) = &settings.config.summary {
        fs::write(path, &text).map_err(Failure::write(path))?;
    }
    if a.json {
        output(writeln!(stdout(), "{text}"))?;
    }
    outcome.failure.map_or(Ok(ExitCode::SUCCESS), |e| Err(e.into()))
}

/// Restores what killed nodes left behind.
fn restore(interfaces: &[String]) -> Result<ExitCode, Failure> {
    let done = wayhop_daemon::restore(interfaces)?;
    let text = match done[..] {
        [] => "nothing to restore".to_owned(),
        _ => format!("restored what killed nodes had changed at {}", done.join(", ")),
    };
    output(writeln!(stdout(), "{text}"))?;
    Ok(ExitCode::SUCCESS)
}

/// The helper process that restores the host after a node.
pub(crate) fn undo(node: u32, lists: &[PathBuf]) -> Result<ExitCode, Failure> {
    wayhop_daemon::undo(node, lists)?;
    Ok(ExitCode::SUCCESS)
}

impl From<Error> for Failure {
    fn from(e: Error) -> Self {
        match e {
            Error::Config(m) => Self::Usage(m),
            Error::System(m) => Self::Run(m),
        }
    }
}
