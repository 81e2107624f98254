//! The topology oracle: what movement and range alone allow a flow, computed for analysis after or during a run. No
//! protocol sees it.
//!
//! * [`survey`] solves the motion for the exact moments at which links come and go, and follows each flow through
//!   them: [`FlowTopology`] has its shortest hop count over time and the moments at which its shortest path changed, as
//!   Holland and Vaidya (1999) count them; [`LinkSurvey`] has every link's lifetime and every node's neighbours.
//!   [`survey_scenario`] does so for nodes with several radios and wires.
//! * [`Oracle`] is for a scenario that is being edited: it recomputes only the links of nodes that move differently. A
//!   large network is examined at single moments ([`Glance`]).
//! * [`ChainThroughput`] is the throughput of a chain of each length; with it a flow has an expected throughput
//!   (equation 1 of the same paper).
//! * [`View`] shows a survey as text, JSON and CSV.
//! * [`annotate`] adds all that to the summary of a run.
//! * [`pathless`] finds the flows for which no path ever exists, before a run.
//! * [`RunPaths`] determines for the packets of a run whether a path existed while they were under way.
//!
//! Two nodes are linked while both are up and nearer than the range: a disc, without fading, obstacles or
//! interference.

mod annotate;
mod chains;
mod flow;
mod glance;
mod links;
mod media;
mod oracle;
mod outages;
mod past;
mod pathless;
mod paths;
mod reach;
mod survey;
mod view;
mod words;

pub use annotate::{annotate, flow_pairs, of_flow};
pub use chains::ChainThroughput;
pub use flow::{FlowTopology, Pair, PathInterval};
pub use glance::{Glance, count_parts};
pub use links::{Contact, LinkSurvey, NodeLinks};
pub use media::survey_scenario;
pub use oracle::{Oracle, ScenarioLinks};
pub use past::RunPaths;
pub use pathless::{Hearing, Pathless, pathless, pathless_warnings};
pub use survey::{Survey, survey};
pub use view::{SurveyedFlow, View};
