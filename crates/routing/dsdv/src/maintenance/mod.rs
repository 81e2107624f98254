//! Broken links, and notices of packets without a route.

mod broken_link;
mod host_unreachable;
