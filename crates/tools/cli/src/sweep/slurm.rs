//! `wayhop sweep --slurm-script`: a script for `sbatch`.

use std::env::current_exe;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use wayhop_core::{file_name, version};
use wayhop_runs::interruption::stop_on_signal;
use wayhop_sweep::{Plan, Prepared};

use super::cost::Cost;
use crate::failure::{Failure, put, usage};

/// Work of a job of the array, seconds: much longer than SLURM takes to start it, and little to lose.
const CHUNK_S: f64 = 40.0;
/// SLURM's default `MaxArraySize` is 1001, and array indices are below it.
const MOST_CHUNKS: usize = 1000;
/// How much longer than the pessimistic estimate a job may take: nodes differ.
const PATIENCE: f64 = 3.0;
/// The shortest time limit, minutes.
const SHORTEST_MIN: f64 = 5.0;
/// The least memory of a job, MiB.
const LEAST_MIB: u64 = 512;
/// Memory of the program without a run, MiB.
const PROGRAM_MIB: u64 = 128;

/// Prepares the folder and prints the script.
pub(super) fn script(plan: &Plan, dir: &Path, warn: impl FnMut(&str)) -> Result<ExitCode, Failure> {
    let prepared = Prepared::new(plan, dir, warn)?;
    let planned = prepared.planned();
    let due = prepared.into_due();
    let left = due.due.len();
    let cost = Cost::of(&due, plan, &*stop_on_signal()?)?;
    let dir = fs::canonicalize(dir).map_err(Failure::write(dir))?;
    let program = current_exe().map_err(|e| Failure::Run(format!("cannot find this program: {e}")))?;
    let (dir, program) = (in_script(&dir)?, in_script(&program)?);
    let total_s = cost.run_s * planned as f64;
    let chunks = ((total_s / CHUNK_S).ceil() as usize).clamp(1, MOST_CHUNKS.min(planned));
    let chunk_s = total_s / chunks as f64;
    let slowest_s = cost.run_s_range[1] * (planned as f64 / chunks as f64).ceil() * PATIENCE;
    let minutes = (slowest_s / 60.0).ceil().max(SHORTEST_MIN);
    let memory = (cost.memory_bytes >> 20).next_multiple_of(PROGRAM_MIB) + PROGRAM_MIB;
    put(format!(
        r#"#!/bin/sh
# {left} of {planned} runs of {dir}/plan.toml in {chunks} jobs of about {chunk_s:.0} s each. Run it with: sbatch FILE
# It needs this folder and the program on every node. After a time limit or a lost node, submit it again: finished runs are
# kept. Afterwards: wayhop sweep {dir}/plan.toml --merge
#SBATCH --job-name=wayhop-{name}
#SBATCH --array=1-{chunks}
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
#SBATCH --mem={memory}M
#SBATCH --time={minutes:.0}
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output="{dir}/slurm-%a.log"
set -eu
wayhop="{program}"
version=$("$wayhop" --version)
if [ "$version" != "wayhop {version}" ]; then
    echo "$(hostname): $wayhop is $version, not wayhop {version}; install the same version on all nodes" >&2
    exit 1
fi
exec "$wayhop" sweep "{dir}/plan.toml" --out "{dir}" --chunk "$SLURM_ARRAY_TASK_ID/{chunks}" --jobs 1
"#,
        name = file_name(&plan.sweep.name),
        memory = memory.max(LEAST_MIB),
        version = version::full(),
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// A path in double quotes in a shell and in sbatch's lines, where % is a pattern.
fn in_script(path: &Path) -> Result<&str, Failure> {
    let is_plain = |c: char| c.is_alphanumeric() || " /._-+=@:,~".contains(c);
    path.to_str().filter(|text| text.chars().all(is_plain)).ok_or_else(|| {
        usage!(
            "{}: this path cannot be written into a script for sbatch; use letters, digits, spaces and /._-+=@:,~",
            path.display()
        )
    })
}
