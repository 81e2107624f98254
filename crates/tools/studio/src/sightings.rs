//! The frames of a packet, found in the captures of the nodes that sent and received it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex};

use wayhop_trace::{CaptureError, CaptureIndex, CapturedFrame, RunDir, Story};

use crate::error::Error;
use crate::lost_frames::{LostFrame, lost_frames};
use crate::moments::{Moments, PREAMBLE_NS, Sighting, joined, moments};
use crate::wall_clock::{WallClock, by_ends};

/// Captures that are looked into for one packet.
const MOST_CAPTURES: usize = 64;
/// Indices that are kept.
const MOST_INDICES: usize = 64;
/// Frames that are taken.
const MOST_FRAMES: usize = 2_000;
/// Octets of captures that are read for one packet, behind the indices.
const MOST_OCTETS: u64 = 256 << 20;
/// A packet is received so long after its frame's last bit at most: the host takes it from its card, nanoseconds.
const TAKEN_NS: u64 = 100_000;

/// What was found.
#[derive(Default)]
pub(crate) struct CaptureSearch {
    /// In order of time.
    pub(crate) frames: Vec<Sighting>,
    /// Nodes that had the packet and have no capture.
    pub(crate) without_capture: Vec<u32>,
    /// What of a capture cannot be read.
    pub(crate) problems: Vec<String>,
    /// Whether a limit ended the search.
    pub(crate) more: bool,
    /// What the frames' times count from, nanoseconds: 0, or the time of the day at the run's time zero.
    pub(crate) time_zero_ns: u64,
}

/// The indices of captures, made when first asked for.
#[derive(Default)]
pub(crate) struct Captures {
    indices: Mutex<Vec<(u32, u64, Arc<CaptureIndex>)>>,
}

impl Captures {
    /// The frames of a packet; `names` are those of the nodes.
    pub(crate) fn of_packet(
        &self,
        run: &RunDir,
        names: &[String],
        story: &Story,
    ) -> Result<CaptureSearch, Error> {
        let clock = WallClock::of(run, story);
        let mut found = CaptureSearch {
            time_zero_ns: clock.as_ref().map_or(0, |c| c.zero_ns),
            ..CaptureSearch::default()
        };
        let (mut left, mut captures) = (MOST_OCTETS, 0);
        for (node, moments) in moments(story, clock.is_some()) {
            let Some(name) = names.get(node as usize) else { continue };
            let path = run.capture_path(name);
            // A pipe or a device of that name would never end.
            if !path.is_file() {
                found.without_capture.push(node);
                continue;
            }
            captures += 1;
            if captures > MOST_CAPTURES || left == 0 {
                found.more = true;
                break;
            }
            let outcome = match &clock {
                Some(clock) => self.search_by_ends(&path, node, &moments, clock, &mut left, &mut found),
                None => self.search(&path, node, &moments, &mut left, &mut found),
            };
            if let Err(e) = outcome {
                found.problems.push(format!("{}: {e}", path.display()));
            }
        }
        for (node, lost) in lost_frames(story, &found.frames) {
            let path = names.get(node as usize).map(|name| run.capture_path(name)).filter(|p| p.is_file());
            let Some(path) = path.filter(|_| left > 0) else { continue };
            if let Err(e) = self.search_lost(&path, node, &lost, &mut left, &mut found) {
                let problem = format!("{}: {e}", path.display());
                if !found.problems.contains(&problem) {
                    found.problems.push(problem);
                }
            }
        }
        if captures == 0 {
            let path = run.path().display();
            return Err(Error::not_found(format!(
                "{path}: no node that handled this packet has a capture; run the scenario again with --captures"
            )));
        }
        found.frames.sort_by_key(|s| (s.frame.time_ns, s.frame.sent != Some(true)));
        found.more |= found.frames.len() > MOST_FRAMES;
        found.frames.truncate(MOST_FRAMES);
        Ok(found)
    }

    fn search(
        &self,
        path: &Path,
        node: u32,
        moments: &Moments,
        left: &mut u64,
        found: &mut CaptureSearch,
    ) -> Result<(), CaptureError> {
        let file = File::open(path).map_err(CaptureError::Io)?;
        let index = self.index(&file, node)?;
        let mut search = Search { sent: moments.sent.clone(), moments, node, received: BTreeMap::new() };
        let outcome =
            ranges(moments).into_iter().try_for_each(|range| search.read(&index, &file, range, left, found));
        // What is before damage counts.
        found.frames.extend(search.received.into_values().map(|frame| Sighting { node, frame }));
        outcome
    }

    /// In a capture that has the time of the day.
    fn search_by_ends(
        &self,
        path: &Path,
        node: u32,
        moments: &Moments,
        clock: &WallClock,
        left: &mut u64,
        found: &mut CaptureSearch,
    ) -> Result<(), CaptureError> {
        let file = File::open(path).map_err(CaptureError::Io)?;
        let index = self.index(&file, node)?;
        let (mut near, mut outcome) = (Vec::new(), Ok(()));
        for range in clock.ranges(moments) {
            let mut reader = index.reader(&file, range.start)?;
            let begin = reader.offset();
            let mut frame = CapturedFrame::default();
            outcome = loop {
                match reader.next_into(&mut frame) {
                    Ok(true) => {}
                    Ok(false) => break Ok(()),
                    Err(e) => break Err(e),
                }
                if frame.time_ns.unwrap_or(0) >= range.end {
                    break Ok(());
                }
                if reader.offset() - begin > *left || near.len() > MOST_FRAMES {
                    found.more = true;
                    break Ok(());
                }
                if clock.is_of(&frame) {
                    near.push(frame.clone());
                }
            };
            *left = left.saturating_sub(reader.offset() - begin);
        }
        // What is before damage counts.
        found.frames.extend(by_ends(clock, moments, near).into_iter().map(|frame| Sighting { node, frame }));
        outcome
    }

    /// The frames that the node received, and could not use.
    fn search_lost(
        &self,
        path: &Path,
        node: u32,
        lost: &[LostFrame],
        left: &mut u64,
        found: &mut CaptureSearch,
    ) -> Result<(), CaptureError> {
        let file = File::open(path).map_err(CaptureError::Io)?;
        let index = self.index(&file, node)?;
        let mut frame = CapturedFrame::default();
        for range in joined(lost.iter().map(|l| l.when.clone()).collect()) {
            let mut reader = index.reader(&file, range.start)?;
            let begin = reader.offset();
            while reader.next_into(&mut frame)? && frame.time_ns.unwrap_or(0) < range.end {
                if reader.offset() - begin > *left || found.frames.len() > MOST_FRAMES {
                    found.more = true;
                    break;
                }
                if frame.sent != Some(true) && lost.iter().any(|l| l.is(&frame)) {
                    found.frames.push(Sighting { node, frame: frame.clone() });
                }
            }
            *left = left.saturating_sub(reader.offset() - begin);
        }
        Ok(())
    }

    fn index(&self, file: &File, node: u32) -> Result<Arc<CaptureIndex>, CaptureError> {
        let octets = file.metadata().map_err(CaptureError::Io)?.len();
        let known = || self.indices.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some((.., index)) = known().iter().find(|(n, size, _)| (*n, *size) == (node, octets)) {
            return Ok(Arc::clone(index));
        }
        let index = Arc::new(CaptureIndex::read(file)?);
        let mut kept = known();
        kept.retain(|(n, ..)| *n != node);
        if kept.len() >= MOST_INDICES {
            kept.remove(0);
        }
        kept.push((node, octets, Arc::clone(&index)));
        Ok(index)
    }
}

/// A search in one capture.
struct Search<'a> {
    node: u32,
    moments: &'a Moments,
    /// Moments at which a frame began that is not found yet.
    sent: BTreeSet<u64>,
    /// By the moment at which the packet was received: the last frame before.
    received: BTreeMap<u64, CapturedFrame>,
}

impl Search<'_> {
    fn read(
        &mut self,
        index: &CaptureIndex,
        file: &File,
        range: Range<u64>,
        left: &mut u64,
        found: &mut CaptureSearch,
    ) -> Result<(), CaptureError> {
        let mut reader = index.reader(file, range.start)?;
        let begin = reader.offset();
        let mut frame = CapturedFrame::default();
        while reader.next_into(&mut frame)? {
            let at = frame.time_ns.unwrap_or(0);
            if at >= range.end {
                break;
            }
            if reader.offset() - begin > *left || found.frames.len() > MOST_FRAMES {
                found.more = true;
                break;
            }
            // The first one then, for a node sends nothing else during a preamble.
            let began = self.sent.range(at.saturating_sub(PREAMBLE_NS)..=at).next_back().copied();
            if let Some(began) = began.filter(|_| frame.sent != Some(false)) {
                self.sent.remove(&began);
                found.frames.push(Sighting { node: self.node, frame: frame.clone() });
            } else if frame.sent != Some(true)
                && let Some(taken) = self.moments.received.range(at..=at.saturating_add(TAKEN_NS)).next()
            {
                self.received.insert(*taken, frame.clone());
            }
        }
        *left = left.saturating_sub(reader.offset() - begin);
        Ok(())
    }
}

/// The stretches of time to read, in order.
fn ranges(moments: &Moments) -> Vec<Range<u64>> {
    let sent = moments.sent.iter().map(|t| *t..t.saturating_add(PREAMBLE_NS));
    let received = moments.received.iter().map(|t| t.saturating_sub(TAKEN_NS)..t.saturating_add(1));
    joined(sent.chain(received).collect())
}
