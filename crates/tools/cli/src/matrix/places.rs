//! Positions of the radios, second by second: from a scenario, a running run, or lines of text.

use std::fs::File;
use std::io::{BufRead, BufReader, stdin};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use wayhop_control::answer::Positions;
use wayhop_control::{About, Client, ClientError, Place, Request, paths};
use wayhop_core::{Position, Span, Time};
use wayhop_matrix::feed::Feed;
use wayhop_scenario::Resolved;

use super::layout;
use crate::failure::{Failure, say, usage};

pub(super) enum PositionSource {
    Scenario(Box<Resolved>),
    Run(Client, usize),
    Feed(Feed),
}

impl PositionSource {
    pub(super) fn radios(&self) -> usize {
        match self {
            Self::Scenario(resolved) => resolved.tracks.len(),
            Self::Run(_, nodes) => *nodes,
            Self::Feed(feed) => feed.radios(),
        }
    }

    /// The first positions; waits for the first line. `None` if there is none.
    pub(super) fn first(&mut self, stop: &AtomicBool) -> Result<Option<Vec<Position>>, Failure> {
        if let Self::Feed(feed) = self {
            return Ok(feed.first(stop));
        }
        self.at(0)
    }

    /// The positions at this second, or now. `None` at the end.
    pub(super) fn at(&mut self, second: u64) -> Result<Option<Vec<Position>>, Failure> {
        match self {
            Self::Scenario(resolved) => {
                let at = Time::ZERO + Span::from_secs(second);
                Ok((at <= resolved.duration).then(|| layout::places(resolved, at)))
            }
            Self::Run(client, _) => match client.ask_for::<Positions>(None, Request::Position {}) {
                Ok(all) => {
                    all.nodes.iter().map(|n| local(n.local, &n.name)).collect::<Result<_, _>>().map(Some)
                }
                Err(ClientError::Refused(e)) => Err(Failure::run(e)),
                // The run has ended.
                Err(_) => Ok(None),
            },
            Self::Feed(feed) => Ok(feed.latest()),
        }
    }
}

/// Connects to a running run, and asks for its description.
pub(super) fn run_of(name: &str) -> Result<(Client, About), Failure> {
    let path = paths::find(name).map_err(Failure::Usage)?;
    let failed = |e: ClientError| Failure::Run(format!("{name}: {e}"));
    let mut client = Client::connect(&path).map_err(failed)?;
    let about = client.ask_for(None, Request::Hello {}).map_err(failed)?;
    Ok((client, about))
}

fn local(place: Option<Place>, name: &str) -> Result<Position, Failure> {
    match place {
        Some(Place::Local { x, y, z }) => Ok(Position { x, y, z }),
        _ => Err(Failure::Run(format!(
            "the run has no position in metres for {name}; drive its scenario instead"
        ))),
    }
}

pub(super) fn feed(path: &Path, radios: usize) -> Result<Feed, Failure> {
    let input: Box<dyn BufRead + Send> = if path == Path::new("-") {
        Box::new(BufReader::new(stdin()))
    } else {
        let file = File::open(path).map_err(|e| usage!("{}: {e}", path.display()))?;
        Box::new(BufReader::new(file))
    };
    let notice = |what: &str| say!("wayhop: {what}");
    Ok(Feed::new(input, path.display().to_string(), path.is_file(), radios, notice))
}
