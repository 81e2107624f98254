//! A text with the settings of the command line on top, as a value.

use serde::de::DeserializeOwned;
use toml::Table;

use crate::document::Document;
use crate::error::Error;
use crate::set::apply_set;

impl Document {
    /// The text as a value of type `T`, with `sets`, each of the form `path.key=value`, on top. Later errors about keys that
    /// these set do not point at the text.
    pub fn deserialize_with<T: DeserializeOwned>(&mut self, sets: &[String]) -> Result<T, Error> {
        let value = if sets.is_empty() {
            self.deserialize()?
        } else {
            let table = self.deserialize::<Table>()?;
            from_table(&table, sets, self).map_err(|e| {
                // If the file is wrong by itself, its own message knows the line. What it lacks may have been set.
                let own = self.deserialize::<T>().err().filter(|_| self.path.is_some());
                own.filter(|own| own.reason == e.reason || !own.is_of_a_missing_key()).unwrap_or(e)
            })?
        };
        self.set_from_outside(sets);
        Ok(value)
    }

    /// The same for a table instead of a text.
    pub fn deserialize_table<T: DeserializeOwned>(
        &mut self,
        table: &Table,
        sets: &[String],
    ) -> Result<T, Error> {
        let value = from_table(table, sets, self)?;
        self.set_from_outside(sets);
        Ok(value)
    }
}

fn from_table<T: DeserializeOwned>(table: &Table, sets: &[String], document: &Document) -> Result<T, Error> {
    let with = |sets: &[String]| -> Result<Result<T, toml::de::Error>, Error> {
        let mut table = table.clone();
        sets.iter().try_for_each(|set| apply_set(&mut table, set))?;
        Ok(T::deserialize(table))
    };
    let e = match with(sets)? {
        Ok(value) => return Ok(value),
        Err(e) => e,
    };
    let mut error = document.parse_error(&e);
    // The position would be one in the table, which is no text.
    error.place = None;
    if !sets.is_empty() {
        let base = with(&[])?.err();
        // What the text lacks no setting has taken away.
        if base.is_some_and(|b| [&b, &e].iter().all(|e| e.message().starts_with("missing field"))) {
            return Err(error);
        }
        // One that is wrong by itself, and in the same way, is the one to name.
        let wrong = |set: &&String| {
            let alone = with(std::slice::from_ref(*set));
            matches!(alone, Ok(Err(alone)) if alone.message() == e.message())
        };
        let named = sets.iter().find(wrong).map_or_else(|| sets.join(" --set "), Clone::clone);
        error.file = None;
        error.key = Some(format!("--set {named}"));
        error.remedy = error.remedy.replace("correct the line", "correct it");
    }
    Err(error)
}
