//! The interface settings that a mesh needs.

use std::fs;
use std::path::Path;

use wayhop_core::DataPlane;
use wayhop_linux::{Error, interface};

/// The setting that says whether the way back to a packet's source is looked at.
pub(crate) const WAY_BACK: &str = "rp_filter";
/// Its value with which any way back does.
pub(crate) const LOOSE: &str = "2";

/// Gives a setting a value.
pub(crate) fn write(path: &Path, value: &str) -> Result<(), Error> {
    fs::write(path, value).map_err(Error::system(format!("write {}", path.display())))
}

/// Settings of the TUN. `forwards`: whether the host sends on what comes out of it, as a gateway does: its node delivers to the outside, and tells
/// sources there of nodes that are unreachable.
pub(crate) fn tun_settings(forwards: bool) -> [(&'static str, &'static str); 3] {
    [(WAY_BACK, LOOSE), ("accept_local", "1"), ("forwarding", if forwards { "1" } else { "0" })]
}

/// Settings of the interface, with which a mesh works. Of `all`: see [`crate::run::setup`].
pub(crate) fn interface_settings(
    name: &str,
    plane: DataPlane,
) -> impl Iterator<Item = (&'static str, &'static str)> {
    // Loose instead of strict: what comes by one neighbour and is answered by another is the rule in a mesh. Where the host
    // does not look at the way back at all, it stays so: the look costs each packet.
    let way_back = is_way_back_strict(name).then_some((WAY_BACK, LOOSE));
    way_back.into_iter().chain([
        // A packet that leaves where it came in is the rule, too.
        ("send_redirects", "0"),
        ("accept_redirects", "0"),
        // A packet for this host must not name another as its next destination, behind the programs.
        ("accept_source_route", "0"),
        // The last, when all that limits it is in place.
        ("forwarding", if plane == DataPlane::Forwarding { "1" } else { "0" }),
    ])
}

/// Gives an interface these settings.
pub(crate) fn write_settings<'a>(
    name: &str,
    settings: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<(), Error> {
    settings.into_iter().try_for_each(|(key, value)| write(&interface::ipv4_setting(name, key), value))
}

/// Whether the kernel takes a packet from an interface only if it would send an answer there: 1 (RFC 3704, section 2.2). The
/// larger number of the interface's and of `all` counts, and 2 is loose.
pub(crate) fn is_way_back_strict(name: &str) -> bool {
    let number = |of: &str| {
        let text = interface::read(&interface::ipv4_setting(of, WAY_BACK));
        text.ok().and_then(|t| t.parse().ok()).unwrap_or(0)
    };
    number(name).max(number("all")) == 1
}
