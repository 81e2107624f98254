//! The modules of a crate and their references to each other, read from its sources.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};

use crate::sources;

/// The names from the crate's root to something in it.
pub(crate) type Way = Vec<String>;

#[derive(Debug, Default)]
pub(crate) struct Module {
    pub(crate) file: PathBuf,
    /// What it defines.
    pub(crate) defined: BTreeSet<String>,
    /// What it imports, by the name that it has here, as it is written.
    pub(crate) imported: BTreeMap<String, Way>,
    /// The modules that it imports all of.
    pub(crate) globs: Vec<Way>,
    /// What its text names, as it is written. What it only hands on (`pub use`) is not among it.
    pub(crate) named: BTreeSet<Way>,
}

/// All modules of the crate with this root file (`lib.rs`, `main.rs`), but for those that exist in tests only.
pub(crate) fn of_crate(root: &Path) -> Result<BTreeMap<Way, Module>, String> {
    let mut modules = BTreeMap::new();
    read_file(root, root.parent().unwrap_or(root), Vec::new(), &mut modules)?;
    Ok(modules)
}

/// Reads the module `way` in `file`; those below it are in `folder`.
fn read_file(
    file: &Path,
    folder: &Path,
    way: Way,
    modules: &mut BTreeMap<Way, Module>,
) -> Result<(), String> {
    let text = sources::read(file)?;
    let parsed = syn::parse_file(&text).map_err(|e| format!("{}: {e}", file.display()))?;
    let mut reader = Reader { file, way, found: BTreeMap::new(), files: Vec::new() };
    reader.found.insert(reader.way.clone(), Module { file: file.to_owned(), ..Module::default() });
    reader.visit_file(&parsed);
    let files = reader.files;
    modules.append(&mut reader.found);
    for (way, path) in files {
        let Some(name) = way.last() else { continue };
        // A path counts from the folder of the file that it stands in.
        let candidates = match path {
            Some(path) => vec![file.with_file_name(path)],
            None => vec![folder.join(format!("{name}.rs")), folder.join(name).join("mod.rs")],
        };
        let found = candidates.iter().find(|c| c.is_file());
        let found = found.ok_or_else(|| format!("{}: no file for mod {name}", file.display()))?;
        read_file(found, &folder.join(name), way, modules)?;
    }
    Ok(())
}

/// Goes through one file.
struct Reader<'a> {
    file: &'a Path,
    /// The module that the text belongs to: the file's own, or one written out in it.
    way: Way,
    found: BTreeMap<Way, Module>,
    /// Modules in files of their own, with the path that an attribute gives.
    files: Vec<(Way, Option<String>)>,
}

impl Reader<'_> {
    fn here(&mut self) -> &mut Module {
        self.found.entry(self.way.clone()).or_default()
    }

    fn name(&mut self, way: Way) {
        self.here().named.insert(way);
    }

    fn import(&mut self, mut way: Way, tree: &syn::UseTree, hands_on: bool) {
        let alias = match tree {
            syn::UseTree::Path(p) => {
                way.push(p.ident.to_string());
                return self.import(way, &p.tree, hands_on);
            }
            syn::UseTree::Group(g) => {
                return g.items.iter().for_each(|t| self.import(way.clone(), t, hands_on));
            }
            syn::UseTree::Glob(_) => {
                self.here().globs.push(way.clone());
                way.push("*".to_owned());
                None
            }
            // `a::{self}` is `a`.
            syn::UseTree::Name(n) if n.ident == "self" => way.last().cloned(),
            syn::UseTree::Name(n) => {
                way.push(n.ident.to_string());
                way.last().cloned()
            }
            syn::UseTree::Rename(r) => {
                way.push(r.ident.to_string());
                Some(r.rename.to_string())
            }
        };
        if let Some(alias) = alias {
            self.here().imported.insert(alias, way.clone());
        }
        if !hands_on {
            self.name(way);
        }
    }

    /// Paths inside of a macro call, whose text is no Rust before it is expanded.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut way: Way = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(i) if colons == 2 => way.push(i.to_string()),
                TokenTree::Ident(i) => {
                    let before = std::mem::replace(&mut way, vec![i.to_string()]);
                    self.name(before);
                }
                TokenTree::Punct(p) if p.as_char() == ':' => {
                    colons += 1;
                    continue;
                }
                TokenTree::Group(g) => self.tokens(g.stream()),
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
            colons = 0;
        }
        self.name(way);
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        use syn::Item::{Const, Enum, Fn, Macro, Mod, Static, Struct, Trait, Type, Union};
        let (attributes, name) = match item {
            Const(i) => (&i.attrs, Some(&i.ident)),
            Enum(i) => (&i.attrs, Some(&i.ident)),
            Fn(i) => (&i.attrs, Some(&i.sig.ident)),
            Macro(i) => (&i.attrs, i.ident.as_ref()),
            Static(i) => (&i.attrs, Some(&i.ident)),
            Struct(i) => (&i.attrs, Some(&i.ident)),
            Trait(i) => (&i.attrs, Some(&i.ident)),
            Type(i) => (&i.attrs, Some(&i.ident)),
            Union(i) => (&i.attrs, Some(&i.ident)),
            Mod(i) => (&i.attrs, None),
            syn::Item::Impl(i) => (&i.attrs, None),
            syn::Item::Use(i) => (&i.attrs, None),
            _ => return,
        };
        if is_for_tests(attributes) {
            return;
        }
        if let Some(name) = name {
            let name = name.to_string();
            self.here().defined.insert(name);
        }
        visit::visit_item(self, item);
    }

    fn visit_impl_item(&mut self, item: &'ast syn::ImplItem) {
        let for_tests = matches!(item, syn::ImplItem::Fn(f) if is_for_tests(&f.attrs));
        if !for_tests {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        let mut way = self.way.clone();
        way.push(module.ident.to_string());
        let Some((_, items)) = &module.content else {
            self.files.push((way, path_attribute(&module.attrs)));
            return;
        };
        let outer = std::mem::replace(&mut self.way, way);
        self.file.clone_into(&mut self.here().file);
        for item in items {
            self.visit_item(item);
        }
        self.way = outer;
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let hands_on = !matches!(item.vis, syn::Visibility::Inherited);
        self.import(Vec::new(), &item.tree, hands_on);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.name(path.segments.iter().map(|s| s.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.visit_path(&call.path);
        self.tokens(call.tokens.clone());
    }

    // `pub(in crate::a)` uses nothing of `a`, and attributes hold other crates' words.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
}

/// Whether this is compiled for tests only.
fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    let only_test = |a: &syn::Attribute| a.parse_args::<syn::Ident>().is_ok_and(|i| i == "test");
    attributes.iter().any(|a| a.path().is_ident("cfg") && only_test(a))
}

/// The file of a module with `#[path = "..."]`.
fn path_attribute(attributes: &[syn::Attribute]) -> Option<String> {
    let path = attributes.iter().find(|a| a.path().is_ident("path"))?;
    match &path.meta.require_name_value().ok()?.value {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}
