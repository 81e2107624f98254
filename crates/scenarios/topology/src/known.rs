//! Whether positions and ranges determine which nodes hear each other.

use wayhop_scenario::Interfaces;

/// Why the ranges of the radios do not determine which nodes hear each other; `None` if they do.
pub(crate) fn unknown(interfaces: &Interfaces, has_path_losses: bool) -> Option<String> {
    if has_path_losses {
        return Some("the path loss of some links follows a table (`path_losses`)".to_owned());
    }
    interfaces
        .radios
        .iter()
        .find_map(|r| Some(format!("the interface {} {}", r.name, r.config.beyond_range()?)))
}
