//! `wayhop bundle agent`.

use wayhop_application_host::{MeshNode, ProgramSocket, Settings, run};
use wayhop_bundle_agent::{AgentConfig, Error, Users};

use super::args::AgentArgs;
use crate::application::Terminal;
use crate::failure::{Failure, usage};

pub(super) fn agent(a: &AgentArgs) -> Result<(), Failure> {
    // As TOML has strings.
    let quoted = |key: &str, text: &str| format!("{key}={}", toml::Value::from(text));
    let node = a.node.as_deref().map(|n| quoted("node", n));
    let store = a.store.as_deref().map(|s| quoted("store", &s.to_string_lossy()));
    let sets: Vec<String> = node.into_iter().chain(store).chain(a.sets.iter().cloned()).collect();
    if a.config.is_none() && a.node.is_none() {
        return Err(usage!(
            "no node given: give a configuration file, or --node dtn://name/ and --store FILE"
        ));
    }
    let plan = AgentConfig::load(a.config.as_deref(), &sets)?;
    let (node, clock) = plan.open()?;
    let mesh = plan.config.mesh_socket()?.map(|(socket, node)| MeshNode { socket, node });
    let settings = Settings {
        listen: plan.config.listen.into(),
        interfaces: plan.config.interfaces.clone(),
        clock,
        // Agents that begin together do not speak at once.
        seed: std::process::id().into(),
        record: plan.config.record.clone(),
        mesh,
        programs: Some(ProgramSocket {
            name: plan.socket.clone(),
            is_open: plan.config.users == Users::All,
            largest: plan.config.largest_bytes,
        }),
        ..Settings::default()
    };
    let mut terminal = Terminal { about: plan.about(), until: None, is_quiet: a.quiet };
    run(Box::new(node), &settings, None, &mut terminal).map(drop).map_err(Failure::run)
}

impl From<Error> for Failure {
    fn from(e: Error) -> Self {
        match e {
            Error::Config(m) => Self::Usage(m),
            Error::System(m) => Self::Run(m),
        }
    }
}
