//! Rows that an application writes into tables of the run.

use core::any::Any;
use core::fmt::Debug;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::Value;

/// A row, of a type of the application's. A host that has its table takes it as it is ([`ApplicationRow::downcast`]), others write it
/// down as JSON: so a simulation pays for no text.
#[derive(Clone, Debug)]
pub struct ApplicationRow(Arc<dyn AnyRow>);

trait AnyRow: Any + Debug + Send + Sync {
    fn to_json(&self) -> Value;
}

impl<T: Any + Debug + Send + Sync + Serialize> AnyRow for T {
    fn to_json(&self) -> Value {
        // A row has names as keys, so it can be written.
        serde_json::to_value(self).unwrap_or_default()
    }
}

impl ApplicationRow {
    /// A row of this type.
    pub fn new(row: impl Any + Debug + Send + Sync + Serialize) -> Self {
        Self(Arc::new(row))
    }
    /// The row, if it is of type `T`.
    pub fn downcast<T: Any>(&self) -> Option<&T> {
        (&*self.0 as &dyn Any).downcast_ref()
    }
    /// As JSON.
    pub fn to_json(&self) -> Value {
        self.0.to_json()
    }
}

impl PartialEq for ApplicationRow {
    fn eq(&self, other: &Self) -> bool {
        self.to_json() == other.to_json()
    }
}

impl Serialize for ApplicationRow {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(s)
    }
}
