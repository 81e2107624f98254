//! Positions of the radios, second by second: from a scenario, a running run, or lines of text.

use std::fs::File;
use std::io::{BufRead, BufReader, Read as _, stdin};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, sync_channel};
use std::thread;
use std::time::Duration;

use wayhop_control::answer::Positions;
use wayhop_control::{Client, ClientError, Place, Request};
use wayhop_core::{Position, Span, Time};
use wayhop_matrix::feed;
use wayhop_scenario::Resolved;

use super::args::DriveArgs;
use super::layout;
use super::run::run_of;
use crate::failure::{Failure, say};

/// Lines that wait to be taken.
const WAITING: usize = 16;

/// Source of positions.
pub(super) enum Places {
    Scenario(Box<Resolved>),
    Run(Client, usize),
    Feed(Feed),
}

/// Positions that arrive as text.
pub(super) struct Feed {
    lines: Receiver<Vec<(usize, Position)>>,
    /// One line each second: a file has all of them at once.
    is_file: bool,
    now: Vec<Position>,
}

impl Places {
    pub(super) fn open(a: &DriveArgs, resolved: Option<Resolved>) -> Result<Self, Failure> {
        if let Some(name) = &a.run {
            let (client, about) = run_of(name)?;
            return Ok(Self::Run(client, about.nodes.len()));
        }
        if let Some(path) = &a.feed {
            return Ok(Self::Feed(Feed::open(path, a.radios.unwrap_or(2))?));
        }
        resolved
            .map(|r| Self::Scenario(Box::new(r)))
            .ok_or_else(|| Failure::Usage("no positions: give a scenario, --run NAME or --feed FILE".into()))
    }

    pub(super) fn radios(&self) -> usize {
        match self {
            Self::Scenario(resolved) => resolved.tracks.len(),
            Self::Run(_, nodes) => *nodes,
            Self::Feed(feed) => feed.now.len(),
        }
    }

    /// The first positions; waits for the first line. `None` if there is none.
    pub(super) fn first(&mut self, stop: &AtomicBool) -> Result<Option<Vec<Position>>, Failure> {
        if let Self::Feed(feed) = self {
            loop {
                match feed.lines.recv_timeout(Duration::from_millis(100)) {
                    Ok(line) => {
                        feed.take(line);
                        // More may never come.
                        return Ok(Some(feed.now.clone()));
                    }
                    Err(RecvTimeoutError::Timeout) if !stop.load(Ordering::Relaxed) => {}
                    Err(_) => return Ok(None),
                }
            }
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
                Err(ClientError::Refused(e)) => Err(Failure::Run(e.to_string())),
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

impl Feed {
    fn open(path: &Path, radios: usize) -> Result<Self, Failure> {
        let from: Box<dyn BufRead + Send> = if path == Path::new("-") {
            Box::new(BufReader::new(stdin()))
        } else {
            let file = File::open(path).map_err(|e| Failure::Usage(format!("{}: {e}", path.display())))?;
            Box::new(BufReader::new(file))
        };
        let (sender, lines) = sync_channel(WAITING);
        let name = path.display().to_string();
        thread::spawn(move || {
            let mut from = from;
            let mut number = 0_u64;
            loop {
                let mut line = Vec::new();
                let read = from.by_ref().take(feed::MAX_LINE as u64 + 1).read_until(b'\n', &mut line);
                number += 1;
                match read {
                    Ok(0) | Err(_) => return,
                    Ok(_) => {}
                }
                let text = String::from_utf8_lossy(&line);
                if text.trim().is_empty() {
                    continue;
                }
                match feed::places(text.trim()) {
                    Ok(places) => {
                        if sender.send(places).is_err() {
                            return;
                        }
                    }
                    Err(e) => say!("wayhop: {name}:{number}: {e}; line ignored"),
                }
            }
        });
        Ok(Self { lines, is_file: path.is_file(), now: vec![Position::default(); radios] })
    }

    fn take(&mut self, line: Vec<(usize, Position)>) {
        for (node, at) in line {
            if let Some(place) = self.now.get_mut(node) {
                *place = at;
            } else {
                say!("wayhop: ignoring node {node} in the feed: --radios is {}", self.now.len());
            }
        }
    }

    /// The positions after all lines read so far, or after the next line of a file; `None` at the end.
    fn latest(&mut self) -> Option<Vec<Position>> {
        loop {
            match self.lines.try_recv() {
                Ok(line) => {
                    self.take(line);
                    if self.is_file {
                        return Some(self.now.clone());
                    }
                }
                Err(TryRecvError::Empty) => return Some(self.now.clone()),
                Err(TryRecvError::Disconnected) => return None,
            }
        }
    }
}
