//! DSR at work: one behaviour a test, over scripted links.

mod cmu_profile;
mod common;

mod acks;
mod bad_links;
mod discovery;
mod errors;
mod etx;
mod external;
mod flow_acks;
mod flow_errors;
mod flow_hostile;
mod flow_options;
mod flow_shortening;
mod flow_state;
mod gateway;
mod hostile;
mod link_cache;
mod live;
mod maintenance;
mod multicast;
mod notices;
mod ns2_profile;
mod options;
mod params;
mod path_cache;
mod recorded;
mod replies;
mod requests;
mod rexmt_timer;
mod snooping;
mod too_long;
mod traps;
mod tshark;
