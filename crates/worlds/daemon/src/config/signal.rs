//! The key `signal`: the source of neighbours' signal strengths.

use crate::config::interface_name::is_interface_name;

/// Where signals come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SignalSource {
    /// The driver's table of stations of this interface.
    Stations(String),
    /// What this monitor interface shows.
    Monitor(String),
}

/// What the key means for an interface; the inner `None` for nowhere.
#[allow(clippy::option_option, reason = "refused, or nowhere")]
pub(crate) fn source(text: &str, interface: &str) -> Option<Option<SignalSource>> {
    match text.split_once(':') {
        None if text == "none" => Some(None),
        None if text == "nl80211" => Some(Some(SignalSource::Stations(interface.to_owned()))),
        Some(("monitor", name)) if is_interface_name(name) => {
            Some(Some(SignalSource::Monitor(name.to_owned())))
        }
        _ => None,
    }
}
