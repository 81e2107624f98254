//! `wayhop compare`: runs side by side.

use std::fs;
use std::path::PathBuf;

use wayhop_figures::comparison;

use crate::failure::{Failure, out, put};
use crate::plot::columns;

pub(crate) const EXAMPLES: &str = "\
Each RUN is a run directory, or a folder of run directories that differ only in their seeds; a folder shows the means of its runs. \
Differences are relative to the first RUN: of pairs with equal seeds if both sides have the same seeds, otherwise of the means with \
Welch's interval. Intervals are 95 %; * means the interval excludes zero, over at least five runs. (3 of 10) means that only 3 of \
the 10 runs have the figure: a run in which nothing arrived has no latency.

Examples:
  wayhop compare runs/chain-sim runs/chain-emulated runs/chain-lab
  wayhop compare runs/dsr runs/aodv --html comparison.html
  wayhop compare runs/simulated runs/emulated --json           20 seeds in the folder simulated";

#[derive(Debug, clap::Args)]
pub(crate) struct CompareArgs {
    /// Run directories, or folders of them; the others are compared with the first
    #[arg(required = true, num_args = 2.., value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Also list each flow, if all runs have the same flows; --json and --html always do
    #[arg(long)]
    flows: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Write an HTML page with figures and the table
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

pub(crate) fn compare(a: &CompareArgs) -> Result<(), Failure> {
    let columns = columns(&a.runs)?;
    let rows = comparison::rows(&columns);
    let remarks = comparison::remarks(&columns);
    if let Some(path) = &a.html {
        let page = comparison::page(&columns, &rows, &remarks).map_err(Failure::trace)?;
        fs::write(path, page.html().map_err(Failure::Run)?).map_err(Failure::write(path))?;
    }
    if a.json {
        out!("{}", comparison::json(&columns, &rows, &remarks))?;
    } else {
        let (all, mut shown) = (rows.len(), rows);
        if !a.flows {
            shown.retain(|r| !r.is_of_flow());
        }
        put(comparison::text(&columns, &shown, &remarks))?;
        if shown.len() < all {
            out!("use --flows to list each flow")?;
        }
    }
    Ok(())
}
