//! Circles of files within a crate: of files each of which uses the next one, and the last one the first.
//!
//! A reader of one file of a circle has to read them all. So code that two files need belongs in a
//! third one below them: state below, handlers above. A file that only re-exports names (`pub use`)
//! does not use them; an import through another folder's `mod.rs` uses that file, too: a reader who
//! looks the name up opens it first.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use crate::modules::{Module, Way};
use crate::{modules, sources};

/// Imports that hand on imports: more steps than this are a circle of `pub use`.
const STEPS_MAX: usize = 16;

/// One line for each circle of files in the crates under `root`.
pub(crate) fn findings(root: &Path) -> Result<Vec<String>, String> {
    let mut findings = Vec::new();
    for (_, folder) in sources::packages(root)? {
        for file in ["lib.rs", "main.rs"].map(|f| folder.join("src").join(f)) {
            if file.is_file() {
                let uses = uses(&modules::of_crate(&file)?);
                findings.extend(circles(&uses).iter().map(|circle| in_words(root, &uses, circle)));
            }
        }
    }
    let uses = script_uses(&root.join("web/src"))?;
    findings.extend(circles(&uses).iter().map(|circle| in_words(root, &uses, circle)));
    Ok(findings)
}

fn uses(modules: &BTreeMap<Way, Module>) -> Uses {
    let mut uses = Uses::new();
    for (way, module) in modules {
        for named in &module.named {
            let mut passed = BTreeSet::new();
            let used = origin(modules, way, named, 0, &mut |through| {
                if through.file.ends_with("mod.rs") && !module.file.starts_with(folder(&through.file)) {
                    passed.insert(through.file.as_path());
                }
            });
            let Some(used) = used else { continue };
            passed.insert(used);
            let from = uses.entry(module.file.clone()).or_default();
            for used in passed.into_iter().filter(|file| *file != module.file) {
                let shown = from.entry(used.to_owned()).or_default();
                // Of several paths to the same file the longest says the most.
                if named.join("::").len() > shown.len() {
                    *shown = named.join("::");
                }
            }
        }
    }
    uses
}

fn folder(file: &Path) -> &Path {
    file.parent().unwrap_or(file)
}

/// The file that defines what `named` means in the module `here`; `None` if it is a module as a whole or is not of this crate.
/// `passed` is called with each module that hands it on; `steps` modules handed it on so far.
fn origin<'a>(
    modules: &'a BTreeMap<Way, Module>,
    here: &[String],
    named: &[String],
    steps: usize,
    passed: &mut dyn FnMut(&'a Module),
) -> Option<&'a Path> {
    if steps > STEPS_MAX {
        return None;
    }
    let mut at = here.to_vec();
    let mut rest = named;
    let is_relative = matches!(rest.first().map(String::as_str), Some("crate" | "self" | "super"));
    while let Some(first) = rest.first() {
        match first.as_str() {
            "crate" => at.clear(),
            "self" => {}
            "super" => _ = at.pop(),
            _ => break,
        }
        rest = &rest[1..];
    }
    loop {
        let module = modules.get(&at)?;
        let name = rest.first()?;
        at.push(name.clone());
        // A module and a function may share a name: a path that ends here means the function.
        if modules.contains_key(&at) && rest.len() > 1 {
            rest = &rest[1..];
            continue;
        }
        at.pop();
        let is_here = at == here && !is_relative;
        if module.defined.contains(name) {
            return Some(&module.file);
        }
        if let Some(import) = module.imported.get(name).filter(|import| import[..] != *rest) {
            let whole: Way = import.iter().chain(&rest[1..]).cloned().collect();
            let file = origin(modules, &at, &whole, steps + 1, passed)?;
            passed(module);
            return Some(file);
        }
        if name == "*" {
            return Some(&module.file);
        }
        let of_glob = module.globs.iter().find_map(|glob| {
            let whole: Way = glob.iter().chain(rest).cloned().collect();
            origin(modules, &at, &whole, steps + 1, passed).filter(|file| *file != module.file)
        });
        if of_glob.is_some() {
            passed(module);
        }
        // What a macro defines has no name here: a path that leads to the module is believed.
        let made_by_macro =
            || (!is_here && !modules.contains_key(&[&at[..], &rest[..1]].concat())).then_some(&*module.file);
        return of_glob.or_else(made_by_macro);
    }
}

/// The circles: for each set of files that all lead to each other, a shortest way around.
fn circles(uses: &Uses) -> Vec<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut known: BTreeSet<PathBuf> = BTreeSet::new();
    for start in uses.keys() {
        if known.contains(start) {
            continue;
        }
        if let Some(around) = way_around(uses, start) {
            let forward = reached(uses, start);
            known.extend(forward.into_iter().filter(|f| reached(uses, f).contains(start)));
            found.push(around);
        }
    }
    found
}

fn reached(uses: &Uses, start: &Path) -> BTreeSet<PathBuf> {
    let mut seen = BTreeSet::new();
    let mut next = vec![start.to_owned()];
    while let Some(file) = next.pop() {
        for to in uses.get(&file).into_iter().flat_map(BTreeMap::keys) {
            if seen.insert(to.clone()) {
                next.push(to.clone());
            }
        }
    }
    seen
}

/// A shortest circle through `start`, which begins with it.
fn way_around(uses: &Uses, start: &Path) -> Option<Vec<PathBuf>> {
    let mut seen = BTreeSet::new();
    let mut next = VecDeque::from([vec![start.to_owned()]]);
    while let Some(way) = next.pop_front() {
        for to in uses.get(way.last()?).into_iter().flat_map(BTreeMap::keys) {
            if to == start {
                return Some(way);
            }
            if seen.insert(to.clone()) {
                next.push_back([&way[..], std::slice::from_ref(to)].concat());
            }
        }
    }
    None
}

fn in_words(root: &Path, uses: &Uses, circle: &[PathBuf]) -> String {
    let shown = |f: &PathBuf| f.strip_prefix(root).unwrap_or(f).display().to_string();
    let step = |(from, to): (&PathBuf, &PathBuf)| format!(" -> {} ({})", shown(to), uses[from][to]);
    let steps: String = circle.iter().zip(circle.iter().cycle().skip(1)).map(step).collect();
    let first = circle.first().map(shown).unwrap_or_default();
    format!("a circle of files: {first}{steps}; move what they share to a file below them")
}

/// Which files a file uses, each with what names it there.
type Uses = BTreeMap<PathBuf, BTreeMap<PathBuf, String>>;

/// How the names of the page's sources end; an import leaves that out.
const ENDINGS: [&str; 2] = ["ts", "tsx"];

/// The imports in `folder` and below it: of values and of types. None if there is no such folder.
fn script_uses(folder: &Path) -> Result<Uses, String> {
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn found_in(files: &[(&str, &str)]) -> Vec<String> {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let file = root.path().join("crates/storey/x/src").join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        fs::write(root.path().join("crates/storey/x/Cargo.toml"), "").unwrap();
        let found = findings(root.path()).unwrap();
        found.into_iter().map(|f| f.replace("crates/storey/x/src/", "")).collect()
    }

    const ROOT: (&str, &str) = ("lib.rs", "mod a;\nmod b;\nmod c;\n");

    #[test]
    fn a_circle_is_told_with_the_path_of_each_step() {
        let found = found_in(&[
            ROOT,
            ("a.rs", "use crate::b::B;\npub struct A(B);\n"),
            ("b.rs", "use super::c;\npub struct B(c::C);\n"),
            ("c.rs", "pub struct C(Box<crate::a::A>);\n"),
        ]);
        let words = "a circle of files: a.rs -> b.rs (crate::b::B) -> c.rs (c::C) -> a.rs (crate::a::A); move what they \
                     share to a file below them";
        assert_eq!(found, [words]);
    }

    #[test]
    fn files_that_use_in_one_direction_form_none() {
        let found = found_in(&[
            ROOT,
            ("a.rs", "use crate::{b::B, c::C};\nstruct A(B, C);\n"),
            ("b.rs", "use crate::c::C;\npub struct B(C);\n"),
            ("c.rs", "pub struct C;\n"),
        ]);
        assert_eq!(found, [""; 0]);
    }

    #[test]
    fn a_name_handed_on_leads_to_the_file_that_defines_it() {
        // `a` takes C by way of `b`, and of the root: it does not use `b`, which uses it.
        let root = ("lib.rs", "mod a;\nmod b;\nmod c;\npub use b::D;\n");
        let a = ("a.rs", "use crate::b::C;\nuse crate::D;\npub struct A(C, D);\n");
        let b = ("b.rs", "pub use crate::c::{C, E as D};\npub struct B(crate::a::A);\n");
        assert_eq!(found_in(&[root, a, b, ("c.rs", "pub struct C;\npub struct E;\n")]), [""; 0]);
        let found = found_in(&[root, a, b, ("c.rs", "pub struct C(crate::a::A);\npub struct E;\n")]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].contains("a.rs -> c.rs (crate::D)") || found[0].contains("a.rs -> c.rs (crate::b::C)")
        );
    }

    #[test]
    fn the_file_of_a_module_and_one_below_it_form_a_circle() {
        let files = [
            ("lib.rs", "mod a;\n"),
            ("a/mod.rs", "mod b;\npub struct State;\npub fn f() { b::step(&State); }\n"),
            ("a/b.rs", "use super::State;\npub fn step(_: &State) {}\n"),
        ];
        assert_eq!(found_in(&files).len(), 1);
        // Handing its names on, the upper file uses nothing of the lower one.
        let hands_on = ("a/mod.rs", "mod b;\npub struct State;\npub use b::step;\n");
        assert_eq!(found_in(&[files[0], hands_on, files[2]]), [""; 0]);
    }

    #[test]
    fn a_name_taken_by_way_of_another_folder_leads_to_its_mod_rs_too() {
        let files = [
            ("lib.rs", "mod a;\nmod site;\n"),
            ("a.rs", "use crate::site::Site;\npub struct A(Site);\n"),
            ("site/mod.rs", "mod b;\npub use b::Site;\npub fn f(_: crate::a::A) {}\n"),
            ("site/b.rs", "pub struct Site;\n"),
        ];
        let found = found_in(&files);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("a.rs -> site/mod.rs (crate::site::Site) -> a.rs"), "{found:?}");
        // Naming the file itself needs no more than that.
        let direct = ("a.rs", "use crate::site::b::Site;\npub struct A(Site);\n");
        assert_eq!(found_in(&[files[0], direct, files[2], files[3]]), [""; 0]);
        // What lies in the folder goes up to its `mod.rs` anyway.
        let inside = ("site/b.rs", "use super::c::C;\nuse super::D;\npub struct Site(C, D);\n");
        let hands_on =
            ("site/mod.rs", "mod b;\nmod c;\npub use b::Site;\nuse c::D;\npub fn f(_: Site, _: D) {}\n");
        let c = ("site/c.rs", "pub struct C;\npub struct D;\n");
        assert_eq!(found_in(&[("lib.rs", "mod site;\n"), hands_on, inside, c]), [""; 0]);
    }

    #[test]
    fn a_circle_of_the_page_is_told_too() {
        let root = tempfile::tempdir().unwrap();
        let web = root.path().join("web/src/live");
        fs::create_dir_all(&web).unwrap();
        fs::create_dir(root.path().join("crates")).unwrap();
        fs::write(web.join("run.ts"), "import {\n  type A,\n} from \"../counts\";\n").unwrap();
        fs::write(web.join("../counts.ts"), "import type { Look } from \"./live/run\";\n").unwrap();
        fs::write(web.join("../main.tsx"), "import \"./counts\";\nimport { render } from \"preact\";\n")
            .unwrap();
        let found = findings(root.path()).unwrap();
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("web/src/counts.ts -> web/src/live/run.ts (./live/run)"), "{found:?}");
        fs::write(web.join("run.ts"), "export interface Look {}\n").unwrap();
        assert_eq!(findings(root.path()).unwrap(), [""; 0]);
    }

    #[test]
    fn macros_globs_and_aliases_count() {
        let c = ("c.rs", "pub fn f() {}\n");
        for a in [
            "use crate::b::*;\n",
            "fn g() { println!(\"{}\", crate::b::g()); }\n",
            "use crate::b as other;\nfn g() { other::g(); }\n",
            "fn g() { let _ = crate::b::made_by_a_macro(); }\n",
        ] {
            let a = format!("{a}pub struct A;\n");
            let found = found_in(&[ROOT, ("a.rs", &a), ("b.rs", "use crate::a::A;\npub fn g(_: A) {}\n"), c]);
            assert_eq!(found.len(), 1, "{a}");
        }
    }

    #[test]
    fn tests_and_visibility_do_not_count() {
        let a = "pub struct A;\n#[cfg(test)]\nmod tests {\n    use crate::b::B;\n}\n\
                 impl A {\n    #[cfg(test)]\n    fn f(_: crate::b::B) {}\n}\n";
        let b = ("b.rs", "use crate::a::A;\npub struct B(pub(in crate::b) A);\n");
        assert_eq!(found_in(&[ROOT, ("a.rs", a), b, ("c.rs", "#[cfg(test)]\nmod t;\n")]), [""; 0]);
    }
}
