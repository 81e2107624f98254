//! `wayhop compare`: runs side by side.

mod args;

use std::fs;
use std::io::{Write as _, stdout};
use std::process::ExitCode;

use wayhop_figures::comparison;

use crate::failure::{Failure, output};

use crate::plot::columns;

pub(crate) use args::{CompareArgs, EXAMPLES};

pub(crate) fn compare(a: &CompareArgs) -> Result<ExitCode, Failure> {
    let columns = columns(&a.runs)?;
    let rows = comparison::rows(&columns);
    let remarks = comparison::remarks(&columns);
    if let Some(path) = &a.html {
        let page = comparison::page(&columns, &rows, &remarks).map_err(Failure::trace)?;
        fs::write(path, page.html().map_err(Failure::Run)?).map_err(Failure::write(path))?;
    }
    if a.json {
        output(writeln!(stdout(), "{}", comparison::json(&columns, &rows, &remarks)))?;
    } else {
        let (all, mut shown) = (rows.len(), rows);
        if !a.flows {
            shown.retain(|r| !r.is_of_flow());
        }
        output(write!(stdout(), "{}", comparison::text(&columns, &shown, &remarks)))?;
        if shown.len() < all {
            output(writeln!(stdout(), "use --flows to list each flow"))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
