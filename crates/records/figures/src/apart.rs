//! Names that distinguish columns.

use std::fs;
use std::path::Path;

use crate::column::Column;

/// Gives columns of the same name as many of the folders above as tell them apart, `dsr/s1` and `aodv/s1`; to a run that is given
/// twice a number.
pub fn tell_apart(columns: &mut [Column]) {
    let above: Vec<Vec<String>> = columns.iter().map(|c| folders_above(&c.path, &c.name)).collect();
    let mut names: Vec<String> = columns.iter().map(|c| c.name.clone()).collect();
    let deepest = above.iter().map(Vec::len).max().unwrap_or(0);
    for depth in 0..deepest {
        let is_taken: Vec<bool> =
            names.iter().map(|n| names.iter().filter(|o| *o == n).count() > 1).collect();
        for (i, name) in names.iter_mut().enumerate().filter(|(i, _)| is_taken[*i]) {
            if let Some(folder) = above[i].get(depth) {
                *name = format!("{folder}/{name}");
            }
        }
    }
    for i in 0..names.len() {
        let before = names[..i].iter().filter(|n| **n == names[i]).count();
        columns[i].name =
            if before > 0 { format!("{} ({})", names[i], before + 1) } else { names[i].clone() };
    }
}

/// The folders above the one that gave a column its name, the nearest first.
fn folders_above(path: &Path, name: &str) -> Vec<String> {
    let absolute = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let parts = absolute.components().rev().map(|c| c.as_os_str().to_string_lossy().into_owned());
    parts.skip_while(|p| p != name).skip(1).filter(|p| p != "/").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_one_name_are_told_apart_by_the_folders_above() {
        let named = |paths: &[&str]| {
            let column = |path: &&str| {
                let path = Path::new(path).to_owned();
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                Column { path, name, runs: Vec::new() }
            };
            let mut columns: Vec<Column> = paths.iter().map(column).collect();
            tell_apart(&mut columns);
            columns.into_iter().map(|c| c.name).collect::<Vec<_>>()
        };
        assert_eq!(named(&["/r/dsr", "/r/aodv"]), ["dsr", "aodv"]);
        assert_eq!(named(&["/r/dsr/s1", "/r/aodv/s1", "/r/aodv/s2"]), ["dsr/s1", "aodv/s1", "s2"]);
        assert_eq!(named(&["/a/dsr/s1", "/b/dsr/s1", "/s1"]), ["a/dsr/s1", "b/dsr/s1", "s1"]);
        assert_eq!(named(&["/r/dsr", "/r/dsr"]), ["r/dsr", "r/dsr (2)"]);
    }
}
