//! `wayhop node`.

use std::fs;
use std::io::{Write as _, stdout};
use std::process::ExitCode;

use wayhop_daemon::{Error, Overrides, Settings};

use crate::args::NodeArgs;
use crate::failure::{Failure, output, say};

pub(crate) fn node(a: &NodeArgs) -> Result<ExitCode, Failure> {
    let overrides = Overrides {
        interface: a.interface.clone(),
        address: a.address.clone(),
        tun: a.tun.clone(),
        protocol: a.protocol.clone(),
        profile: a.profile.clone(),
        sets: a.sets.clone(),
    };
    let settings = Settings::load(a.config.as_deref(), &overrides).map_err(failure)?;
    if a.check {
        for remark in &settings.remarks {
            say!("info: {remark}");
        }
        let text = settings.to_toml().map_err(failure)?;
        output(stdout().write_all(text.as_bytes()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let outcome = wayhop_daemon::run(&settings, a.tied).map_err(failure)?;
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
    wayhop_daemon::undo().map_err(failure)?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn failure(e: Error) -> Failure {
    match e {
        Error::Config(m) => Failure::Usage(m),
        Error::System(m) => Failure::Run(m),
    }
}
