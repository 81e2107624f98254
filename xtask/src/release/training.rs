//! Profile-guided optimisation: a program that counts its steps does typical runs, and the compiler gets the counts.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::command::{cargo, output, run};

/// What `wayhop run` simulates to be counted: each protocol, TCP, Hellos and floods.
const RUNS: [&str; 8] = [
    "scenarios/broch.toml --protocol dsr --duration 600",
    "scenarios/broch.toml --protocol aodv --profile ns2 --duration 600",
    "scenarios/broch.toml --protocol dsdv --duration 300",
    "scenarios/broch.toml --protocol dsr --duration 30 --set traffic.0.start_max_s=5 --set nodes.count=1000 \
     --set area.x_m=6708 --set area.y_m=1342",
    "scenarios/broch.toml --protocol aodv --profile ns2 --duration 30 --set traffic.0.start_max_s=5 \
     --set nodes.count=1000 --set area.x_m=6708 --set area.y_m=1342",
    "scenarios/broch.toml --protocol aodv --profile rfc --duration 4 --set protocol.hello=always \
     --set nodes.count=2000 --set area.x_m=4243 --set area.y_m=4243",
    "scenarios/first.toml",
    "scenarios/holland-vaidya/pattern.toml",
];

/// Builds the program in `folder` with cargo's `arguments`, and returns where it is; `program` is its path below a target folder.
pub(super) fn build(
    root: &Path,
    folder: &Path,
    arguments: &[&str],
    program: &Path,
) -> Result<PathBuf, String> {
    // Asked for first: without it, the first program would be compiled in vain.
    let llvm_profdata = llvm_profdata()?;
    // Cargo does not see that counts have changed, and would keep what it compiled with older ones.
    let _ = fs::remove_dir_all(folder);
    let cargo_into = |target: &str| {
        let mut build = cargo();
        build.args(arguments).current_dir(root).env("CARGO_TARGET_DIR", folder.join(target));
        build
    };
    let counts = folder.join("counts");
    run(cargo_into("first").env("RUSTFLAGS", format!("-Cprofile-generate={}", counts.display())))?;
    // Programs that take part in compiling have counted their steps, too.
    let _ = fs::remove_dir_all(&counts);
    for arguments in RUNS {
        let mut simulate = Command::new(folder.join("first").join(program));
        simulate.arg("run").args(arguments.split_whitespace()).arg("--out").arg(folder.join("run"));
        simulate.current_dir(root).env("LLVM_PROFILE_FILE", counts.join("%m.profraw")).stdout(Stdio::null());
        run(&mut simulate)?;
    }
    let merged = folder.join("counts.profdata");
    run(Command::new(llvm_profdata).arg("merge").arg("--output").arg(&merged).arg(&counts))?;
    let wrapper = root.join("packaging/rustc-with-counts");
    run(cargo_into("second").env("RUSTC_WRAPPER", wrapper).env("COUNTS", &merged))?;
    Ok(folder.join("second").join(program))
}

/// The program that merges counts. It belongs to the compiler, whose format it has to know.
fn llvm_profdata() -> Result<PathBuf, String> {
    let libraries = output(Command::new("rustc").args(["--print", "target-libdir"]))?;
    let path = Path::new(&libraries).with_file_name("bin").join("llvm-profdata");
    if path.is_file() {
        Ok(path)
    } else {
        Err(format!("{} is missing: rustup component add llvm-tools", path.display()))
    }
}
