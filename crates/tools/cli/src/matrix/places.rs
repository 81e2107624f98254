//! Positions of the radios, second by second: from a scenario, a running run, or lines of text.

use std::fs::File;
use std::io::{BufRead, BufReader, stdin};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use wayhop_control::answer::Positions;
use wayhop_control::{Client, ClientError, Place, Request};
use wayhop_core::{Position, Span, Time};
use wayhop_matrix::feed::Feed;
use wayhop_scenario::Resolved;

use super::args::DriveArgs;
use super::layout;
use super::run::run_of;
use crate::failure::{Failure, say};

/// Source of positions.
pub(super) enum PositionSource {
    Scenario(Box<Resolved>),
    Run(Client, usize),
    Feed(Feed),
}

impl PositionSource {
    pub(super) fn open(a: &DriveArgs, resolved: Option<Resolved>) -> Result<Self, Failure> {
        if let Some(name) = &a.run {
            let (client, about) = run_of(name)?;
            return Ok(Self::Run(client, about.nodes.len()));
        }
        if let Some(path) = &a.feed {
            return Ok(Self::Feed(feed(path, a.radios.unwrap_or(2))?));
        }
        resolved
            .map(|r| Self::Scenario(Box::new(r)))
            .ok_or_else(|| Failure::Usage("no positions: give a scenario, --run NAME or --feed FILE".into()))
    }

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

fn local(place: Option<Place>, name: &str) -> Result<Position, Failure> {
    match place {
        Some(Place::Local { x, y, z }) => Ok(Position { x, y, z }),
        _ => Err(Failure::Run(format!(
            "the run has no position in metres for {name}; drive its scenario instead"
        ))),
    }
}

fn feed(path: &Path, radios: usize) -> Result<Feed, Failure> {
    let input: Box<dyn BufRead + Send> = if path == Path::new("-") {
        Box::new(BufReader::new(stdin()))
    } else {
        let file = File::open(path).map_err(|e| Failure::Usage(format!("{}: {e}", path.display())))?;
        Box::new(BufReader::new(file))
    };
    let notice = |what: &str| say!("wayhop: {what}");
    Ok(Feed::new(input, path.display().to_string(), path.is_file(), radios, notice))
}
