//! Tells the program which commit it is built from.

use std::path::Path;
use std::process::Command;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    // A commit, a change that is staged, and a change of a source file.
    for path in [".git/HEAD", ".git/index", "crates", "Cargo.lock"] {
        let path = root.join(path);
        if path.exists() {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
    // What a source archive or a package was made from.
    println!("cargo::rerun-if-env-changed=WAYHOP_COMMIT");
    let commit = std::env::var("WAYHOP_COMMIT").ok().or_else(|| commit(&root));
    let commit = commit.unwrap_or_else(|| "unknown".to_owned());
    println!("cargo::rustc-env=WAYHOP_VERSION={}+{commit}", env!("CARGO_PKG_VERSION"));
    // To make the published program (profile `dist`) smaller, the linker merges identical functions and packs relocations. Only the
    // linker that rustc has for this target is known to do both.
    let variable = |name| std::env::var(name).unwrap_or_default();
    if variable("OPT_LEVEL") == "s" && variable("TARGET") == "x86_64-unknown-linux-gnu" {
        println!("cargo::rustc-link-arg-bins=-Wl,--icf=all,-z,pack-relative-relocs");
    }
}

/// The commit that is checked out, with a mark if the tree differs from it. A folder inside another
/// project's repository has no commit of its own.
fn commit(root: &Path) -> Option<String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").arg("-C").arg(root).args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let top = git(&["rev-parse", "--show-toplevel"])?;
    if Path::new(&top).canonicalize().ok()? != root.canonicalize().ok()? {
        return None;
    }
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let changes = git(&["status", "--porcelain", "--untracked-files=no"])?;
    Some(if changes.is_empty() { commit } else { format!("{commit}.modified") })
}
