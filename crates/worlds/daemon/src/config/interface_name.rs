//! Names of interfaces.

/// The kernel's rule (dev_valid_name).
pub(crate) fn is_interface_name(name: &str) -> bool {
    (1..16).contains(&name.len())
        && name != "."
        && name != ".."
        && name.chars().all(|c| c.is_ascii_graphic() && c != '/' && c != ':')
}
