//! Filters of system calls (seccomp). They apply permanently to this thread, or to all threads, and
//! their children.

mod arch;
mod denied;
mod node;
mod programs;

use std::collections::BTreeMap;
use std::io;

use nix::libc;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, SeccompRule};

pub use node::confine_node;
pub use programs::confine_program;

/// System calls, each with conditions of which one must hold; without conditions it is meant in any case.
type Rules = BTreeMap<i64, Vec<SeccompRule>>;

const REFUSED: SeccompAction = SeccompAction::Errno(libc::EPERM as u32);

fn compile(rules: Rules, others: SeccompAction, these: SeccompAction) -> io::Result<BpfProgram> {
    let arch = std::env::consts::ARCH.try_into().map_err(io::Error::other)?;
    let filter = SeccompFilter::new(rules, others, these, arch).map_err(io::Error::other)?;
    filter.try_into().map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::process::Command;

    use nix::libc::{self, c_long};

    /// Makes the calls that are its arguments, each of the form NUMBER:FIRST, and says how each fails; the other arguments are zeros. Python,
    /// since this crate has no unsafe code.
    const CALLS: &str = "import ctypes, sys\n\
        libc = ctypes.CDLL(None, use_errno=True)\n\
        for call in sys.argv[1:]:\n    \
            ctypes.set_errno(0)\n    \
            libc.syscall(*map(int, call.split(':')), *4 * [ctypes.c_long(0)])\n    \
            print(ctypes.get_errno())\n";

    /// Whether each of these calls, with a first argument, is refused to a program that a thread with this filter starts.
    pub(super) fn are_refused(filter: fn() -> io::Result<()>, calls: &[(c_long, c_long)]) -> Vec<bool> {
        let calls: Vec<String> = calls.iter().map(|(number, first)| format!("{number}:{first}")).collect();
        let python = move || {
            filter().expect("a filter");
            Command::new("python3").args(["-c", CALLS]).args(calls).output().expect("python3")
        };
        let said = std::thread::spawn(python).join().expect("no panic");
        let text = String::from_utf8(said.stdout).expect("UTF-8");
        assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
        text.lines().map(|errno| errno.parse() == Ok(libc::EPERM)).collect()
    }
}
