//! Changes to a plan from the command line.

use wayhop_document::{apply_set, set_value};

use crate::error::SweepError;
use crate::figures::full_name;
use crate::matrix::label;
use crate::plan::{Axis, Plan, Seeds};

/// Changes to a plan. Empty and false fields leave the plan unchanged.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Seeds that replace those of the plan.
    pub seeds: Option<Seeds>,
    /// Axes to add, or that replace the axes with their name or key.
    pub axes: Vec<Axis>,
    /// Settings of all runs, each `path.key=value`.
    pub sets: Vec<String>,
    /// Figures that replace those of the plan.
    pub metrics: Vec<String>,
    /// Whether each run has a run directory.
    pub tables: bool,
    /// Whether that has captures of all nodes.
    pub captures: bool,
}

impl Plan {
    /// This plan with changes.
    pub fn changed(mut self, changes: &Changes) -> Result<Self, SweepError> {
        for (k, axis) in changes.axes.iter().enumerate() {
            if changes.axes[..k].iter().any(|other| other.name == axis.name) {
                let reason = "given twice; give all values at once, separated by commas";
                return Err(SweepError::Usage(format!("--vary {}: {reason}", axis.name)));
            }
            self.vary(axis)?;
        }
        for set in &changes.sets {
            self.set(set)?;
        }
        let sweep = &mut self.sweep;
        if let Some(seeds) = &changes.seeds {
            sweep.seeds = seeds.clone();
        }
        if !changes.metrics.is_empty() {
            sweep.metrics = changes.metrics.iter().map(|m| full_name(m)).collect();
        }
        sweep.tables |= changes.tables;
        sweep.captures |= changes.captures;
        Ok(self)
    }

    fn vary(&mut self, axis: &Axis) -> Result<(), SweepError> {
        let is_it = |a: &&mut Axis| a.name == axis.name || a.key.is_some() && a.key == axis.key;
        let Some(own) = self.sweep.axes.iter_mut().find(is_it) else {
            self.sweep.axes.push(axis.clone());
            return Ok(());
        };
        if own.set.is_empty() {
            own.values.clone_from(&axis.values);
            own.files.clear();
            return Ok(());
        }
        // Values with labels can be selected on the command line, but not defined.
        let wanted: Vec<String> = axis.values.iter().map(label).collect();
        if let Some(unknown) = wanted.iter().find(|w| !own.set.iter().any(|l| l.label == **w)) {
            let known: Vec<&str> = own.set.iter().map(|l| l.label.as_str()).collect();
            return Err(SweepError::Usage(format!(
                "--vary {}: this axis of the plan has no value {unknown:?}; choose from: {}",
                axis.name,
                known.join(", ")
            )));
        }
        own.set.retain(|l| wanted.contains(&l.label));
        Ok(())
    }

    fn set(&mut self, set: &str) -> Result<(), SweepError> {
        let mut alone = toml::Table::new();
        apply_set(&mut alone, set)?;
        if alone.contains_key("seed") {
            return Err(SweepError::Usage(format!(
                "--set {set}: the seed cannot be set for all runs; use --seeds"
            )));
        }
        // A plan's table adds to that of the scenario; a `--set` of `wayhop run` would replace it.
        if set.split_once('=').is_some_and(|(_, value)| set_value(value.trim()).is_table()) {
            let remedy = "set its keys one by one, each with its own --set";
            return Err(SweepError::Usage(format!("--set {set}: tables cannot be set here; {remedy}")));
        }
        Ok(apply_set(&mut self.sweep.set, set)?)
    }
}
