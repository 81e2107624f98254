//! Tables as Parquet files for other programs, of runs that did not end, too.

use std::fs::File;
use std::io::{self, Write};

use parquet::errors::ParquetError;
use parquet::file::reader::SerializedFileReader;

use super::schema::{FLOWS, OUTCOMES};
use super::table::in_memory;
use super::{killed, read};
use crate::{Error, RunDir, RunStatus};

/// Writes a table of a run as one Parquet file. Of a run that is running, or was killed, it has what was recorded up to a few
/// seconds before, and `outcomes` and `flows` are computed from `packets`.
pub fn export_parquet(run: &RunDir, table: &str, to: &mut dyn Write) -> Result<(), Error> {
    let path = run.path().join(format!("{table}.parquet"));
    let written = |outcome: io::Result<()>| outcome.map_err(Error::io(&path, "write the copy of"));
    let encoded =
        |octets: Result<Vec<u8>, ParquetError>| octets.map_err(|e| Error::invalid(&path, e.to_string()));
    if table == "outcomes"
        && let Some(outcomes) = crate::killed::outcomes(run)?
    {
        return written(to.write_all(&encoded(in_memory(table, OUTCOMES, &outcomes))?));
    }
    if table == "flows" && run.manifest()?.status == RunStatus::Running {
        return written(to.write_all(&encoded(in_memory(table, FLOWS, &run.summary()?.flows))?));
    }
    // It says what is wrong, if something is.
    read::open_table(run, table)?;
    let open = || File::open(&path).map_err(Error::io(&path, "read"));
    if SerializedFileReader::new(open()?).is_err()
        && let Some(pieces) = killed::table(run.path(), table, open()?)?
    {
        return written(pieces.write_from(0, to));
    }
    written(io::copy(&mut open()?, to).map(drop))
}
