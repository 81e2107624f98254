//! What a node knows of its links, model by model.

mod bad_links;
mod etx;
mod positions;
mod rtt;
