//! Tables as text.

use std::io::{self, Write};

use parquet::file::reader::FileReader as _;
use parquet::record::Field;

use super::read;
use crate::{Error, RunDir};

/// Writes a table of a run as CSV (RFC 4180, with `\n` line ends): a line of column names, then a line a row; an empty
/// cell means that there is no value. Columns that number nodes (`node`, `src`, `dst`, `sender`, `other`) have the nodes' names in further columns
/// at the end.
///
/// Tables of a run that was killed may be incomplete and unreadable; the error says so.
pub fn export_csv(run: &RunDir, table: &str, to: &mut dyn Write) -> Result<(), Error> {
    let reader = read::open_table(run, table)?;
    let path = run.path().join(format!("{table}.parquet"));
    let written = |r: io::Result<()>| r.map_err(Error::io(&path, "write the CSV of"));

    let columns = reader.metadata().file_metadata().schema_descr().columns();
    let names: Vec<&str> = columns.iter().map(|c| c.name()).collect();
    let numbered =
        |name: &&&str| matches!(**name, "node" | "src" | "dst" | "sender" | "other") && table != "nodes";
    let named: Vec<String> = names.iter().filter(numbered).map(|name| format!(",{name}_name")).collect();
    let called = if named.is_empty() { Vec::new() } else { read::node_names(run)? };
    written(writeln!(to, "{}{}", names.join(","), named.concat()))?;
    let mut line = String::new();
    for row in reader.get_row_iter(None).map_err(|e| Error::invalid(&path, e.to_string()))? {
        let row = row.map_err(|e| Error::invalid(&path, e.to_string()))?;
        line.clear();
        for (i, (_, field)) in row.get_column_iter().enumerate() {
            if i > 0 {
                line.push(',');
            }
            cell(&mut line, field);
        }
        for (_, field) in row.get_column_iter().filter(|(name, _)| numbered(&&name.as_str())) {
            line.push(',');
            if let Some(name) = number(field).and_then(|n| called.get(n)) {
                text(&mut line, name);
            }
        }
        line.push('\n');
        written(to.write_all(line.as_bytes()))?;
    }
    Ok(())
}

fn number(field: &Field) -> Option<usize> {
    match *field {
        Field::Int(n) => usize::try_from(n).ok(),
        Field::Long(n) => usize::try_from(n).ok(),
        _ => None,
    }
}

fn text(line: &mut String, s: &str) {
    if s.contains([',', '"', '\n', '\r']) {
        line.push('"');
        line.push_str(&s.replace('"', "\"\""));
        line.push('"');
    } else {
        line.push_str(s);
    }
}

fn cell(line: &mut String, field: &Field) {
    match field {
        Field::Null => {}
        Field::Str(s) => text(line, s),
        Field::Float(v) => line.push_str(&v.to_string()),
        Field::Double(v) => line.push_str(&v.to_string()),
        other => line.push_str(&other.to_string()),
    }
}
