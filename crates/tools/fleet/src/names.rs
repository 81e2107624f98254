//! Rules for names.

pub(crate) fn has_control(text: &str) -> bool {
    text.chars().any(char::is_control)
}

/// Whether a text is a name that can also name a folder, here and on hosts.
pub(crate) fn is_name(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
}
