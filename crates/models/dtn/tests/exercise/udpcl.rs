//! Datagrams to UDPCL.

use wayhop_dtn::cl::udpcl::Udpcl;

use super::datagrams::datagrams;
use super::session::feed;

/// UDPCL takes any datagrams.
pub(crate) fn udpcl(octets: &[u8]) {
    feed(&mut Udpcl::new(1_400), datagrams(octets));
}
