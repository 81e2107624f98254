//! The frames of a packet, found in the captures of the nodes that sent and received it.

use std::collections::BTreeMap;
use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex};

use wayhop_protocols::CLASSIFIER;
use wayhop_trace::{CaptureError, CaptureIndex, CapturedFrame, RunDir, Story, dissect};

use crate::error::Error;
use crate::moments::{Moments, PREAMBLE_NS, Sighting, joined, moments};
use crate::wall_clock::{WallClock, by_ends};

/// Captures that are looked into for one packet.
const MOST_CAPTURES: usize = 64;
const MOST_INDICES: usize = 64;
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
        let (mut budget, mut captures) = (Budget { octets: MOST_OCTETS, is_exceeded: false }, 0);
        for (node, moments) in moments(story, clock.is_some()) {
            let Some(name) = names.get(node as usize) else { continue };
            let path = run.capture_path(name);
            // A pipe or a device of that name would never end.
            if !path.is_file() {
                found.without_capture.push(node);
                continue;
            }
            captures += 1;
            if captures > MOST_CAPTURES || budget.octets == 0 {
                found.more = true;
                break;
            }
            let frames = &mut found.frames;
            let outcome = match &clock {
                Some(clock) => self.search_by_ends(&path, node, &moments, clock, &mut budget, frames),
                None => self.search(&path, node, &moments, &mut budget, frames),
            };
            if let Err(e) = outcome {
                found.problems.push(format!("{}: {e}", path.display()));
            }
        }
        for (node, lost) in lost_frames(story, &found.frames) {
            let path = names.get(node as usize).map(|name| run.capture_path(name)).filter(|p| p.is_file());
            let Some(path) = path.filter(|_| budget.octets > 0) else { continue };
            let ranges = joined(lost.iter().map(|l| l.when.clone()).collect());
            // The frames that the node received, and could not use.
            let outcome = self.scan(&path, node, ranges, &mut budget, &mut found.frames, |frame, found| {
                if frame.sent != Some(true) && lost.iter().any(|l| l.is(frame)) {
                    found.push(Sighting { node, frame: frame.clone() });
                }
            });
            if let Err(e) = outcome {
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
        found.more |= budget.is_exceeded || found.frames.len() > MOST_FRAMES;
        found.frames.truncate(MOST_FRAMES);
        Ok(found)
    }

    fn search(
        &self,
        path: &Path,
        node: u32,
        moments: &Moments,
        budget: &mut Budget,
        found: &mut Vec<Sighting>,
    ) -> Result<(), CaptureError> {
        // Moments at which a frame began that is not found yet; by the moment at which the packet was received, the last frame before.
        let (mut sent, mut received) = (moments.sent.clone(), BTreeMap::new());
        let outcome = self.scan(path, node, ranges(moments), budget, found, |frame, found| {
            let at = frame.time_ns.unwrap_or(0);
            // The first one then, for a node sends nothing else during a preamble.
            let began = sent.range(at.saturating_sub(PREAMBLE_NS)..=at).next_back().copied();
            if let Some(began) = began.filter(|_| frame.sent != Some(false)) {
                sent.remove(&began);
                found.push(Sighting { node, frame: frame.clone() });
            } else if frame.sent != Some(true)
                && let Some(taken) = moments.received.range(at..=at.saturating_add(TAKEN_NS)).next()
            {
                received.insert(*taken, frame.clone());
            }
        });
        // What is before damage counts.
        found.extend(received.into_values().map(|frame| Sighting { node, frame }));
        outcome
    }

    /// In a capture that has the time of the day.
    fn search_by_ends(
        &self,
        path: &Path,
        node: u32,
        moments: &Moments,
        clock: &WallClock,
        budget: &mut Budget,
        found: &mut Vec<Sighting>,
    ) -> Result<(), CaptureError> {
        let mut near = Vec::new();
        let outcome = self.scan(path, node, clock.ranges(moments), budget, &mut near, |frame, near| {
            if clock.is_of(frame) {
                near.push(frame.clone());
            }
        });
        // What is before damage counts.
        found.extend(by_ends(clock, moments, near).into_iter().map(|frame| Sighting { node, frame }));
        outcome
    }

    /// Offers each frame of these stretches of a node's capture, as far as the limits allow.
    fn scan<T>(
        &self,
        path: &Path,
        node: u32,
        stretches: Vec<Range<u64>>,
        budget: &mut Budget,
        kept: &mut Vec<T>,
        mut take: impl FnMut(&CapturedFrame, &mut Vec<T>),
    ) -> Result<(), CaptureError> {
        let file = File::open(path).map_err(CaptureError::Io)?;
        let index = self.index(&file, node)?;
        let mut frame = CapturedFrame::default();
        for stretch in stretches {
            let mut reader = index.reader(&file, stretch.start)?;
            let begin = reader.offset();
            while reader.next_into(&mut frame)? && frame.time_ns.unwrap_or(0) < stretch.end {
                if reader.offset() - begin > budget.octets || kept.len() > MOST_FRAMES {
                    budget.is_exceeded = true;
                    break;
                }
                take(&frame, kept);
            }
            budget.octets = budget.octets.saturating_sub(reader.offset() - begin);
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

/// What may still be read for a packet.
struct Budget {
    octets: u64,
    is_exceeded: bool,
}

/// The stretches of time to read, in order.
fn ranges(moments: &Moments) -> Vec<Range<u64>> {
    let sent = moments.sent.iter().map(|t| *t..t.saturating_add(PREAMBLE_NS));
    let received = moments.received.iter().map(|t| t.saturating_sub(TAKEN_NS)..t.saturating_add(1));
    joined(sent.chain(received).collect())
}

/// The time in which the slowest radios send a byte, ns.
const OCTET_NS: u64 = 8_000;
/// Preamble, the way through the air, and the end of a reception that another frame began.
const BESIDES_NS: u64 = 300_000;

/// A frame that a receiver has lost: when its end is in a capture, and what it is.
struct LostFrame {
    when: Range<u64>,
    frame: CapturedFrame,
}

impl LostFrame {
    /// Whether a frame in the receiver's capture is this one. Its sender sends nothing else during that time.
    fn is(&self, frame: &CapturedFrame) -> bool {
        frame.time_ns.is_some_and(|at| self.when.contains(&at))
            && frame.comment.is_some()
            && above_radiotap(frame) == above_radiotap(&self.frame)
            && dissect(frame, CLASSIFIER)["radio"]["bad_fcs"] == true
    }
}

/// The frames that each receiver has lost, by the story, of those that are in the captures of their senders.
fn lost_frames(story: &Story, sent: &[Sighting]) -> BTreeMap<u32, Vec<LostFrame>> {
    let mut all: BTreeMap<u32, Vec<LostFrame>> = BTreeMap::new();
    for step in story.steps.iter().filter(|s| !s.at.is_empty()) {
        let begin = (step.time_s * 1e9).round().max(0.0) as u64;
        let is_its = |s: &&Sighting| {
            s.node == step.node
                && s.frame.sent == Some(true)
                && s.frame.time_ns.is_some_and(|at| (begin..=begin + PREAMBLE_NS).contains(&at))
        };
        let Some(Sighting { frame, .. }) = sent.iter().find(is_its) else { continue };
        let octets = u64::from(frame.original_len).max(frame.bytes.len() as u64);
        let when = begin..begin + octets * OCTET_NS + BESIDES_NS;
        for receiver in step.at.iter().filter(|a| a.outcome != "received").filter_map(|a| a.node) {
            all.entry(receiver).or_default().push(LostFrame { when: when.clone(), frame: frame.clone() });
        }
    }
    all
}

/// The frame without what its card said of it. LINKTYPE 127 is radiotap, whose header has its own length behind two octets.
fn above_radiotap(frame: &CapturedFrame) -> &[u8] {
    match (frame.link_type, &frame.bytes[..]) {
        (127, [_, _, low, high, ..]) => {
            frame.bytes.get(usize::from(u16::from_le_bytes([*low, *high]))..).unwrap_or_default()
        }
        (_, bytes) => bytes,
    }
}
