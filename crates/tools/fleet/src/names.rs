//! Which texts can be names.

/// Whether a text has characters that a terminal would act on.
pub(crate) fn has_control(text: &str) -> bool {
    text.chars().any(char::is_control)
}

/// A name that can also be that of a folder, here and there.
pub(crate) fn is_name(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
}
