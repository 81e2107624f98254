//! File names from node names.

/// A name, of a node or a scenario, as the name of a file: characters that do not belong in one become `_`.
pub fn file_name(name: &str) -> String {
    let ok = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let mut file: String = name.chars().map(|c| if ok(c) { c } else { '_' }).collect();
    if file.starts_with('.') || file.is_empty() {
        file.insert(0, '_');
    }
    file
}
