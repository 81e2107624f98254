//! A module as one of the applications from outside.

use std::sync::Arc;

use serde_json::{Map, Value};
use wayhop_core::{Application, ApplicationParameters, ParameterError};

use super::engine::PythonApplication;
use super::module::ApplicationModule;
use crate::application::{ApplicationFacts, Foreign};

impl Foreign for ApplicationModule {
    fn facts(&self) -> &ApplicationFacts {
        &self.facts
    }
    fn notes(&self) -> &'static [&'static str] {
        self.notes
    }
    fn parameters(&'static self, values: Map<String, Value>) -> Arc<dyn ApplicationParameters> {
        Arc::new(Set { module: self, values: Arc::new(values) })
    }
}

/// A set of a module's parameters.
#[derive(Debug)]
struct Set {
    module: &'static ApplicationModule,
    values: Arc<Map<String, Value>>,
}

impl ApplicationParameters for Set {
    fn application(&self, node: Option<u32>) -> Box<dyn Application> {
        Box::new(PythonApplication::new(self.module, Arc::clone(&self.values), node))
    }
    fn values(&self) -> Map<String, Value> {
        (*self.values).clone()
    }
    fn check(&self) -> Result<(), ParameterError> {
        Ok(())
    }
}
