//! Names that libraries make up while they run: of tables, columns, places and remarks.

use std::collections::BTreeSet;
use std::sync::Mutex;

/// No library has more; what comes after them is [`OTHER`].
const MOST: usize = 4_096;
/// Stands for the names that are too many.
const OTHER: &str = "other";

static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// The name, kept until the process ends.
pub(crate) fn name(text: &str) -> &'static str {
    let mut names = NAMES.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(known) = names.get(text) {
        return known;
    }
    if names.len() >= MOST {
        return OTHER;
    }
    let kept: &'static str = text.to_owned().leak();
    names.insert(kept);
    kept
}
