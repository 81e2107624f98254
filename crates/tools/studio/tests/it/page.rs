//! The page that is built in.

use std::fs;
use std::path::Path;

use sha2::{Digest as _, Sha256};

/// `web/build.mjs` computes the same, so that the page cannot be forgotten when its sources change; no Node is needed here.
#[test]
fn the_page_is_built_from_these_sources() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let web = here.join("../../../web");
    let mut names = Vec::new();
    sources(&web, "src", &mut names);
    names.sort_unstable();
    let mut digest = Sha256::new();
    for name in ["build.mjs", "package-lock.json"].into_iter().chain(names.iter().map(String::as_str)) {
        digest.update(name);
        digest.update([0]);
        digest.update(fs::read(web.join(name)).expect("a source"));
        digest.update([0]);
    }
    let stamp = format!("/* sources: sha256 {} */", wayhop_core::hex(&digest.finalize()));
    let script = fs::read_to_string(here.join("page/studio.js")).expect("the page");
    assert!(
        script.starts_with(&stamp),
        "crates/tools/studio/page is older than web/: run npm run build in web/"
    );
}

/// The files below a folder of `web`, by their paths there.
fn sources(web: &Path, folder: &str, names: &mut Vec<String>) {
    for entry in fs::read_dir(web.join(folder)).expect("sources") {
        let entry = entry.expect("an entry");
        let name = format!("{folder}/{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() { sources(web, &name, names) } else { names.push(name) }
    }
}

#[test]
fn the_page_names_no_other_site() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("page");
    for file in ["index.html", "studio.css", "studio.js"] {
        let text = fs::read_to_string(page.join(file)).expect("the page");
        // Namespaces of XML are names, which nobody asks for.
        let others = text.match_indices("://").filter(|(at, _)| !text[*at..].starts_with("://www.w3.org/"));
        let others: Vec<&str> =
            others.map(|(at, _)| text.get(at.saturating_sub(8)..at + 30).unwrap_or("?")).collect();
        assert!(others.is_empty(), "{file}: {others:?}");
    }
}
