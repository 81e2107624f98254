//! Completion of names that only running nodes know.

use std::ffi::OsStr;

use clap_complete::CompletionCandidate;
use wayhop_control::answer::{Parameters, Tables};
use wayhop_control::{About, Client, Request, paths};

pub(crate) fn runs(current: &OsStr) -> Vec<CompletionCandidate> {
    starting_with(current, paths::sockets().iter().map(|s| paths::name_of(s)))
}

pub(crate) fn nodes(current: &OsStr) -> Vec<CompletionCandidate> {
    let about = client().and_then(|mut c| c.ask_for::<About>(None, Request::Hello {}).ok());
    starting_with(current, about.into_iter().flat_map(|a| a.nodes).map(|n| n.name))
}

pub(crate) fn tables(current: &OsStr) -> Vec<CompletionCandidate> {
    let all = Request::Tables { tables: Vec::new() };
    let tables = client().and_then(|mut c| c.ask_for::<Tables>(None, all).ok());
    let names = tables.into_iter().flat_map(|t| t.nodes).flat_map(|n| n.tables.into_keys());
    starting_with(current, names)
}

pub(crate) fn parameters(current: &OsStr) -> Vec<CompletionCandidate> {
    let all = client().and_then(|mut c| c.ask_for::<Parameters>(None, Request::Parameters {}).ok());
    let keys = all.into_iter().flat_map(|p| p.nodes).flat_map(|n| n.parameters.into_iter().map(|(k, _)| k));
    starting_with(current, keys)
}

/// The run on the command line that is being completed, or the one that goes on.
fn client() -> Option<Client> {
    let words: Vec<String> = std::env::args().collect();
    let after = |option: &str| words.iter().position(|w| w == option).and_then(|at| words.get(at + 1));
    let socket = match (after("--socket"), after("--run")) {
        (Some(path), _) => path.into(),
        (None, Some(name)) => paths::find(name).ok()?,
        (None, None) => paths::sockets().into_iter().next()?,
    };
    Client::connect(&socket).ok()
}

fn starting_with(current: &OsStr, names: impl Iterator<Item = String>) -> Vec<CompletionCandidate> {
    let current = current.to_string_lossy();
    let mut names: Vec<String> = names.filter(|n| n.starts_with(&*current)).collect();
    names.sort();
    names.dedup();
    names.into_iter().map(CompletionCandidate::new).collect()
}
