//! Which file of the studio's page imports which.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::sources;

/// Which files a file uses, each with what names it there.
pub(crate) type Uses = BTreeMap<PathBuf, BTreeMap<PathBuf, String>>;

/// How the names of the page's sources end; an import leaves that out.
const ENDINGS: [&str; 2] = ["ts", "tsx"];

/// The imports in `folder` and below it: of values and of types. None if there is no such folder.
pub(crate) fn uses(folder: &Path) -> Result<Uses, String> {
    let mut uses = Uses::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop().filter(|f| f.is_dir()) {
        for path in sources::children(&folder)? {
            if path.is_dir() {
                folders.push(path);
            } else if ENDINGS.iter().any(|e| path.extension().is_some_and(|x| x == *e)) {
                let text = sources::read(&path)?;
                let used = imports(&text).filter_map(|name| Some((file(&folder, name)?, name.to_owned())));
                uses.insert(path, used.collect());
            }
        }
    }
    Ok(uses)
}

/// What a text imports or hands on from files beside it, as written.
fn imports(text: &str) -> impl Iterator<Item = &str> {
    // `import ... from "./a"`, over several lines as well, `import "./a"`, `import("./a")`.
    ["from \"", "import \"", "import(\""].into_iter().flat_map(move |before| {
        text.split(before)
            .skip(1)
            .filter_map(|rest| rest.split('"').next())
            .filter(|name| name.starts_with('.'))
    })
}

/// The source that is imported by a name in a file of this folder.
fn file(folder: &Path, name: &str) -> Option<PathBuf> {
    let mut path = folder.to_owned();
    for part in name.split('/') {
        match part {
            "." => {}
            ".." => _ = path.pop(),
            part => path.push(part),
        }
    }
    let as_text = path.display();
    ENDINGS.iter().map(|e| PathBuf::from(format!("{as_text}.{e}"))).find(|f| f.is_file())
}
