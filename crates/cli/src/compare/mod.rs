//! `wayhop compare`: runs side by side.

mod column;
mod page;
mod rows;
mod show;

use std::fs;
use std::io::{Write as _, stdout};
use std::process::ExitCode;

use crate::args::CompareArgs;
use crate::failure::{Failure, output};

use column::Column;

pub(crate) fn compare(a: &CompareArgs) -> Result<ExitCode, Failure> {
    let columns = a.runs.iter().map(|path| Column::read(path)).collect::<Result<Vec<_>, _>>()?;
    let rows = rows::rows(&columns);
    let remarks = show::remarks(&columns);
    if let Some(path) = &a.html {
        let page = page::html(&columns, &rows, &remarks).map_err(Failure::Run)?;
        fs::write(path, page).map_err(Failure::write(path))?;
    }
    if a.json {
        output(writeln!(stdout(), "{}", show::json(&columns, &rows, &remarks)))?;
    } else {
        output(write!(stdout(), "{}", show::text(&columns, &rows, &remarks)))?;
    }
    Ok(ExitCode::SUCCESS)
}
