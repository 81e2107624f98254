//! `wayhop bundle agent`.

use std::process::ExitCode;

use wayhop_bundle_agent::{AgentConfig, Error};

use super::args::AgentArgs;
use crate::failure::{Failure, harmless, say};

pub(super) fn agent(a: &AgentArgs) -> Result<ExitCode, Failure> {
    // As TOML has strings.
    let quoted = |key: &str, text: &str| format!("{key}={}", toml::Value::from(text));
    let node = a.node.as_deref().map(|n| quoted("node", n));
    let store = a.store.as_deref().map(|s| quoted("store", &s.to_string_lossy()));
    let sets: Vec<String> = node.into_iter().chain(store).chain(a.sets.iter().cloned()).collect();
    if a.config.is_none() && a.node.is_none() {
        let why = "no node: give a configuration file, or --node dtn://name/ and --store FILE";
        return Err(Failure::Usage(why.to_owned()));
    }
    let loaded = AgentConfig::load(a.config.as_deref(), &sets)?;
    let ready = |about: &str| {
        if !a.quiet {
            say!("{about}");
        }
    };
    let remark = |text: &str| {
        if !a.quiet {
            say!("info: {}", harmless(text));
        }
    };
    wayhop_bundle_agent::run(loaded, ready, remark)?;
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
