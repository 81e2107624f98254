//! Values of a plan that name the file of a protocol or an application. Like all paths in a plan, they count from its folder.

use std::path::{Path, PathBuf};

use toml::{Table, Value};

/// The file that the value of a key names: a shared library or a Python module.
pub(crate) fn path(key: &str, value: &Value) -> Option<PathBuf> {
    let text = value.as_str()?;
    match key.rsplit_once('.') {
        Some((_, "library" | "python")) => Some(PathBuf::from(text)),
        // Models of ns-3 have names, too.
        Some((section, "name")) if section == "protocol" || section.starts_with("applications.") => {
            wayhop_protocols::locate(text).filter(|_| !text.starts_with("ns3:"))?.ok()
        }
        _ => None,
    }
}

/// `key=value` for every key of a table, below `section`. Files count from `folder`.
pub(crate) fn flatten(section: &str, table: &Table, folder: &Path, out: &mut Vec<String>) {
    for (key, value) in table {
        let key = if section.is_empty() { key.clone() } else { format!("{section}.{key}") };
        match value {
            Value::Table(inner) => flatten(&key, inner, folder, out),
            value => out.push(set(&key, value, folder)),
        }
    }
}

/// `key=value`. A file counts from `folder`.
pub(crate) fn set(key: &str, value: &Value, folder: &Path) -> String {
    let Some(path) = path(key, value) else { return format!("{key}={value}") };
    let full = folder.join(path);
    let full = std::path::absolute(&full).unwrap_or(full);
    format!("{key}={}", Value::String(full.to_string_lossy().into_owned()))
}

/// Replaces each file that a table names by what `place` makes of it.
pub(crate) fn replace<E>(
    section: &str,
    table: &mut Table,
    place: &impl Fn(&Path) -> Result<PathBuf, E>,
) -> Result<(), E> {
    for (key, value) in table.iter_mut() {
        let key = if section.is_empty() { key.to_owned() } else { format!("{section}.{key}") };
        match value {
            Value::Table(inner) => replace(&key, inner, place)?,
            value => replace_value(&key, value, place)?,
        }
    }
    Ok(())
}

/// The same for one value.
pub(crate) fn replace_value<E>(
    key: &str,
    value: &mut Value,
    place: &impl Fn(&Path) -> Result<PathBuf, E>,
) -> Result<(), E> {
    if let Some(path) = path(key, value) {
        let placed = place(&path)?;
        // Without a slash, a name that has no known ending would be that of a protocol.
        let text = placed.to_string_lossy();
        let text = if text.contains('/') { text.into_owned() } else { format!("./{text}") };
        *value = Value::String(text);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_count_from_the_plans_folder_and_names_stay() {
        let table: Table = toml::from_str(
            "duration_s = 9\n[protocol]\npython = \"a.py\"\nname = \"dsr\"\n[applications.0]\nname = \"./b.so\"\n",
        )
        .unwrap();
        let mut sets = Vec::new();
        flatten("", &table, Path::new("/plans"), &mut sets);
        sets.sort();
        let expected = [
            "applications.0.name=\"/plans/./b.so\"",
            "duration_s=9",
            "protocol.name=\"dsr\"",
            "protocol.python=\"/plans/a.py\"",
        ];
        assert_eq!(
            sets.iter().map(|s| s.replace("/./", "/")).collect::<Vec<_>>(),
            expected.map(|s| s.replace("/./", "/"))
        );
        assert_eq!(path("protocol.name", &"ns3:aodv".into()), None);
        assert_eq!(path("protocol.name", &"python:a.py".into()), Some("a.py".into()));
        assert_eq!(path("nodes.node.0.name", &"a/b".into()), None);
    }

    #[test]
    fn a_moved_plan_names_the_same_files() {
        let mut table: Table = toml::from_str("[protocol]\nname = \"a.py\"\nttl = 3\n").unwrap();
        replace("", &mut table, &|p| Ok::<_, ()>(Path::new("../..").join(p))).unwrap();
        assert_eq!(table["protocol"]["name"].as_str(), Some("../../a.py"));
        assert_eq!(table["protocol"]["ttl"].as_integer(), Some(3));
    }
}
