//! The story of a packet, as `wayhop why` tells it, cut to what a page can show.

use serde::Deserialize;
use serde_json::{Value, json};
use wayhop_topology::RunPaths;
use wayhop_trace::{PacketQuery, RunDir, Story, stories};

use crate::error::Error;

/// Packets in an answer: a number in a flow stands for a request and its reply.
const MOST_STORIES: usize = 8;
const MOST_STEPS: usize = 2_000;
const MOST_RECEIVERS: usize = 200;

/// Which packet.
#[derive(Copy, Clone, Debug, Deserialize)]
pub(crate) struct StoryQuery {
    packet: Option<u64>,
    flow: Option<u32>,
    seq: Option<u64>,
}

impl StoryQuery {
    pub(crate) fn wanted(&self) -> Result<PacketQuery, Error> {
        match (self.packet, self.flow, self.seq) {
            (Some(packet), None, None) => Ok(PacketQuery::Packet(packet)),
            (None, Some(flow), Some(seq)) => Ok(PacketQuery::OfFlow { flow, seq }),
            _ => Err(Error::bad_request("specify a packet by `packet`, its number, or by `flow` and `seq`")),
        }
    }
}

/// The stories of the packets that are meant. A run without them is an error that says where packets are.
pub(crate) fn told(run: &RunDir, wanted: PacketQuery) -> Result<Vec<Story>, Error> {
    let told = stories(run, wanted)?;
    if told.is_empty() {
        let what = match wanted {
            PacketQuery::Packet(packet) => format!("no packet {packet}"),
            PacketQuery::OfFlow { flow, seq } => format!("no packet {seq} of flow {flow}"),
        };
        let path = run.path().display();
        return Err(Error::not_found(format!(
            "{path}: the run has {what}; list lost packets with `wayhop why RUN`"
        )));
    }
    Ok(told)
}

/// The answer for the page: each story as `wayhop why --json` prints it, and `more`, how many steps and receivers were left out.
pub(crate) fn answer(run: &RunDir, asked: &StoryQuery) -> Result<Value, Error> {
    let all = told(run, asked.wanted()?)?;
    let paths = RunPaths::of_run(run);
    let told = all.into_iter().take(MOST_STORIES).map(|mut story| {
        paths.tell_story(&mut story);
        let mut more = story.steps.len().saturating_sub(MOST_STEPS);
        story.steps.truncate(MOST_STEPS);
        for step in &mut story.steps {
            more += step.at.len().saturating_sub(MOST_RECEIVERS);
            step.at.truncate(MOST_RECEIVERS);
        }
        let mut story = serde_json::to_value(story).map_err(Error::unreadable)?;
        story["more"] = json!(more);
        Ok(story)
    });
    Ok(json!({"stories": told.collect::<Result<Vec<_>, Error>>()?}))
}
