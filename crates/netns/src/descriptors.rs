//! Whether this process may open as much as a run needs, before it begins.

use nix::sys::resource::{Resource, getrlimit, rlim_t, setrlimit};

use crate::error::Error;

/// What a process has open besides its nodes: standard streams, sockets, tables and captures.
const OTHERS: u64 = 256;

/// Makes room for so many open files, as far as this process may.
///
/// # Errors
/// If it may not: what is needed, what is allowed, and how to raise it.
pub fn make_room(nodes: usize, descriptors: u64) -> Result<(), Error> {
    let needed: rlim_t = descriptors + OTHERS;
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE)
        .map_err(|e| Error::system("cannot read the limit of open files", e))?;
    if needed <= soft {
        return Ok(());
    }
    // Root may go beyond the hard limit, up to the kernel's.
    let raised = setrlimit(Resource::RLIMIT_NOFILE, needed, hard.max(needed));
    raised.map_err(|_| {
        let allowed = soft.max(hard);
        Error::Limit(format!(
            "{nodes} nodes need {needed} open files, and this process may have {allowed}: run `ulimit -n {needed}` before, \
             as root, or run fewer nodes"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_any_kernel_gives_is_refused_with_the_remedy() {
        assert!(make_room(1, 4).is_ok());
        let before = getrlimit(Resource::RLIMIT_NOFILE).expect("a limit");
        let e = make_room(5_000, 1 << 62).expect_err("refused").to_string();
        assert!(
            e.starts_with("5000 nodes need 4611686018427388160 open files") && e.contains("ulimit -n"),
            "{e}"
        );
        assert_eq!(getrlimit(Resource::RLIMIT_NOFILE).expect("a limit"), before);
    }
}
