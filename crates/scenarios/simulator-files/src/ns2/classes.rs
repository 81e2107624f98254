//! What a file sets for whole classes: `Agent/TCP set packetSize_ 512`.

use std::collections::BTreeMap;

/// The settings of each class, by variable.
#[derive(Default)]
pub(super) struct Classes(BTreeMap<String, BTreeMap<String, String>>);

impl Classes {
    pub(super) fn set(&mut self, class: &str, key: &str, value: &str) {
        self.0.entry(class.to_owned()).or_default().insert(key.to_owned(), value.to_owned());
    }

    /// The settings of an object of `class`: those of the classes that it descends from first, so that its own come last,
    /// whatever their order in the file.
    pub(super) fn settings(&self, class: &str) -> impl Iterator<Item = (&str, &str)> {
        let ends = class.match_indices('/').map(|(i, _)| i).chain([class.len()]);
        let of = ends.filter_map(|end| self.0.get(&class[..end])).flatten();
        of.map(|(key, value)| (key.as_str(), value.as_str()))
    }
}
