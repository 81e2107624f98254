//! `wayhop compare`: runs side by side.

mod args;
mod page;
mod show;

use std::fs;
use std::io::{Write as _, stdout};
use std::process::ExitCode;

use wayhop_figures::comparison::rows;

use crate::failure::{Failure, output};

use crate::plot::columns;

pub(crate) use args::{CompareArgs, EXAMPLES};
pub(crate) use page::table;

pub(crate) fn compare(a: &CompareArgs) -> Result<ExitCode, Failure> {
    let columns = columns(&a.runs)?;
    let rows = rows(&columns);
    let remarks = show::remarks(&columns);
    if let Some(path) = &a.html {
        let page = page::html(&columns, &rows, &remarks)?;
        fs::write(path, page).map_err(Failure::write(path))?;
    }
    if a.json {
        output(writeln!(stdout(), "{}", show::json(&columns, &rows, &remarks)))?;
    } else {
        let (all, mut shown) = (rows.len(), rows);
        if !a.flows {
            shown.retain(|r| !r.is_of_flow());
        }
        output(write!(stdout(), "{}", show::text(&columns, &shown, &remarks)))?;
        if shown.len() < all {
            output(writeln!(stdout(), "use --flows to list each flow"))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
