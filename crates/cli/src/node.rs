//! `wayhop node`.

use std::fs;
use std::io::{Write as _, stdout};
use std::process::ExitCode;

use wayhop_daemon::{Error, Overrides, Settings};

use crate::args::NodeArgs;
use crate::failure::{Failure, output, say};

pub(crate) fn node(a: &NodeArgs) -> Result<ExitCode, Failure> {
    let overrides = Overrides {
        interfaces: a.interface.clone(),
        address: a.address.clone(),
        tun: a.tun.clone(),
        protocol: a.protocol.clone(),
        profile: a.profile.clone(),
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
    Ok(ExitCode::SUCCESS)
}

/// What a node starts besides itself, to set the host back.
pub(crate) fn undo() -> Result<ExitCode, Failure> {
    wayhop_daemon::undo()?;
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
