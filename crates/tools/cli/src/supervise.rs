//! Runs a command with a foreign library or Python module in a child process, so that a crash of the library is reported and what was
//! recorded stays readable.
//!
//! The first time that a command loads a library, it starts itself again with the same arguments and becomes the child's
//! supervisor: it passes signals on, watches for calls that do not return, reports how the child ended, and exits like it.

use std::fs::File;
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _, parent_id};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, exit};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::Pid;
use wayhop_protocols::progress::{FILE_BYTES, LIMIT, Snapshot, call_limit, report_to};
use wayhop_trace::{RunDir, Status, how_it_ended};

use crate::failure::{harmless, say};
use crate::scenario_args::is_standard_input;

/// The supervisor of this process: its process number, and that of a file that both share.
const SUPERVISOR: &str = "WAYHOP_SUPERVISOR";
/// How often the supervisor looks at the child, milliseconds.
const TICK: u16 = 50;
/// Signals that a supervisor passes on. What a terminal sends, the child gets itself.
const PASSED_ON: [Signal; 6] =
    [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGQUIT, Signal::SIGUSR1, Signal::SIGUSR2];
/// Signals that somebody sends, and no library raises by mistake.
const SENT: [Signal; 5] = [Signal::SIGKILL, Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP, Signal::SIGPIPE];

/// Called before a library is loaded. It returns in the child; the supervisor ends with it.
pub(crate) fn supervise(library: &Path) -> Result<(), String> {
    // What a browser sends must not choose code to run.
    if std::thread::current().name() != Some("main") {
        let why =
            "a library is loaded at the start of a command only; name it in the scenario's file, and restart";
        return Err(why.to_owned());
    }
    if is_supervised() {
        return Ok(());
    }
    // What follows `--` is the command of a node.
    if std::env::args_os().take_while(|a| a != "--").any(|a| is_standard_input(Path::new(&a))) {
        let why = "a scenario with a library cannot come from standard input; save it to a file";
        return Err(why.to_owned());
    }
    match watch(library) {
        Ok(status) => exit(status),
        Err(e) => Err(format!("it cannot be supervised ({e})")),
    }
}

/// Whether this process has a supervisor; from now on the supervisor sees what the library does.
fn is_supervised() -> bool {
    let Some((parent, file)) = std::env::var(SUPERVISOR).ok().and_then(|s| {
        let (parent, file) = s.split_once(':')?;
        Some((parent.parse::<u32>().ok()?, file.parse::<u32>().ok()?))
    }) else {
        return false;
    };
    // A descendant of a supervised process has the variable, too.
    if parent != parent_id() {
        return false;
    }
    let shared = File::options().read(true).write(true).open(format!("/proc/{parent}/fd/{file}"));
    let is_shared = shared.and_then(report_to).is_ok();
    is_shared && set_pdeathsig(Signal::SIGKILL).is_ok() && parent == parent_id()
}

/// Runs this command in a child, and returns its exit status.
fn watch(library: &Path) -> Result<i32, String> {
    let wrong = |what: &'static str| move |e: nix::Error| format!("cannot {what}: {e}");
    let shared = memfd_create("wayhop-library", MFdFlags::MFD_CLOEXEC).map_err(wrong("share memory"))?;
    let shared = File::from(shared);
    shared.set_len(FILE_BYTES).map_err(|e| format!("cannot share memory: {e}"))?;
    let signals: SigSet = PASSED_ON.into_iter().chain([Signal::SIGCHLD]).collect();
    let flags = SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC;
    let news = SignalFd::with_flags(&signals, flags).map_err(wrong("watch signals"))?;
    let mut arguments = std::env::args_os();
    let mut command = Command::new("/proc/self/exe");
    if let Some(name) = arguments.next() {
        command.arg0(name);
    }
    command.args(arguments).env(SUPERVISOR, format!("{}:{}", std::process::id(), shared.as_raw_fd()));
    let mut child = command.spawn().map_err(|e| format!("cannot start a child: {e}"))?;
    // Only now: a child inherits what is blocked.
    let _ = signals.thread_block();
    let limit = call_limit();
    let mut call = LongCall { calls: 0, looked: Instant::now(), lasted: Duration::ZERO };
    loop {
        let _ = poll(&mut [PollFd::new(news.as_fd(), PollFlags::POLLIN)], PollTimeout::from(TICK));
        while let Ok(Some(signal)) = news.read_signal() {
            pass_on(&child, signal.ssi_signo, signal.ssi_code);
        }
        if let Some(status) = child.try_wait().map_err(|e| format!("cannot wait for the child: {e}"))? {
            return Ok(verdict(status, &Snapshot::read(&shared), library));
        }
        if limit.is_some_and(|limit| call.takes(limit, &Snapshot::read(&shared))) {
            let _ = child.kill();
            let _ = child.wait();
            return Ok(timed_out(&Snapshot::read(&shared), library, limit.unwrap_or_default()));
        }
    }
}

fn pass_on(child: &Child, number: u32, code: i32) {
    // What the kernel sends comes from the terminal, and goes to the child as well.
    const SI_KERNEL: i32 = 0x80;
    let signal = PASSED_ON.into_iter().find(|s| *s as u32 == number).filter(|_| code != SI_KERNEL);
    if let Some(signal) = signal {
        let _ = kill(Pid::from_raw(child.id().cast_signed()), signal);
    }
}

/// For how long the same call has been in progress.
struct LongCall {
    calls: u64,
    looked: Instant,
    lasted: Duration,
}

impl LongCall {
    /// Whether one call takes longer than `limit`.
    fn takes(&mut self, limit: Duration, now: &Snapshot) -> bool {
        // Both may have been stopped for a while, as with Ctrl-Z.
        let passed = self.looked.elapsed().min(2 * Duration::from_millis(TICK.into()));
        self.looked = Instant::now();
        if now.call.is_none() || now.calls != self.calls {
            (self.calls, self.lasted) = (now.calls, Duration::ZERO);
        } else {
            self.lasted += passed;
        }
        self.lasted > limit
    }
}

/// Says how the child ended, unless it has done so itself. Returns the exit status.
fn verdict(status: ExitStatus, at: &Snapshot, library: &Path) -> i32 {
    let (what, code) = ending(status, at, library);
    if let Some(what) = what {
        say_end(&what, at);
    }
    code
}

/// What to say of a child's end, and the exit status.
fn ending(status: ExitStatus, at: &Snapshot, library: &Path) -> (Option<String>, i32) {
    let name = name(at, library);
    let place = at.call.map_or_else(String::new, |call| format!(" {call}"));
    let failed = |what: String| (Some(what), i32::from(Status::Failed.code()));
    if !at.fault.is_empty() {
        return failed(format!("{name} ended the run{place}: it {}", at.fault));
    }
    let Some(number) = status.signal() else {
        let code = status.code();
        if at.call.is_none() {
            return (None, code.unwrap_or(1));
        }
        return failed(format!("{name} ended the process{place} (exit status {})", code.unwrap_or(0)));
    };
    let signal = signal_name(number);
    if SENT.iter().any(|sent| *sent as i32 == number) {
        let remedy = "if nobody sent it, memory ran out: see dmesg";
        let is_kill = number == Signal::SIGKILL as i32;
        return (
            is_kill.then(|| format!("{signal} ended the process that ran {name}; {remedy}")),
            128 + number,
        );
    }
    if at.call.is_some() {
        return failed(format!("{name} crashed ({signal}){place}"));
    }
    failed(format!(
        "the process that ran {name} crashed ({signal}) between its callbacks: in its classify or decode, in a \
         thread of its own, or in Wayhop"
    ))
}

/// The name of a signal; real-time signals have numbers only.
fn signal_name(number: i32) -> String {
    Signal::try_from(number).map_or_else(|_| format!("signal {number}"), |signal| signal.to_string())
}

fn timed_out(at: &Snapshot, library: &Path, limit: Duration) -> i32 {
    let name = name(at, library);
    let place = at.call.map_or_else(String::new, |call| format!(" {call}"));
    let limit = limit.as_secs_f64();
    say_end(
        &format!("{name} did not return within {limit} s{place}; {LIMIT} sets another limit, 0 for none"),
        at,
    );
    i32::from(Status::Failed.code())
}

/// What the user knows it by: `the library ./libmine.so`.
fn name(at: &Snapshot, library: &Path) -> String {
    let path = if at.library.is_empty() { library } else { Path::new(&at.library) };
    let kind = if wayhop_protocols::is_python(path) { "Python module" } else { "library" };
    format!("the {kind} {}", path.display())
}

/// The message, and what is left of the run.
fn say_end(what: &str, at: &Snapshot) {
    say!("wayhop: {}", harmless(what));
    if at.run.is_empty() {
        return;
    }
    let left = RunDir::open(&at.run, wayhop_protocols::CLASSIFIER).and_then(|run| how_it_ended(&run));
    match left {
        Ok(Some(sentence)) => say!("{sentence}"),
        Ok(None) => {}
        Err(_) => say!("{}: the run ended before it recorded anything", at.run),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wayhop_protocols::progress::{Call, Callback};

    fn ended(status: i32, at: &Snapshot) -> (Option<String>, i32) {
        ending(ExitStatus::from_raw(status), at, Path::new("./libmine.so"))
    }

    #[test]
    fn the_end_of_a_library_is_told_with_its_signal_or_exit_status() {
        let idle = Snapshot::default();
        let call = Some(Call { callback: Callback::Timer, node: Some(3), time_ns: 2_000_000_000 });
        let busy = Snapshot { call, ..Snapshot::default() };
        let told = |status, at| ended(status, at).0.unwrap_or_default();
        let name = "the library ./libmine.so";
        assert_eq!(told(11, &busy), format!("{name} crashed (SIGSEGV) in timer of node 3 at 2.000000 s"));
        // The first that the kernel leaves to programs: SIGRTMIN of glibc and musl is a later one.
        assert_eq!(told(34, &busy), format!("{name} crashed (signal 34) in timer of node 3 at 2.000000 s"));
        assert!(told(64, &idle).contains("crashed (signal 64) between its callbacks"));
        let exited = format!("{name} ended the process in timer of node 3 at 2.000000 s (exit status 7)");
        assert_eq!(ended(7 << 8, &busy), (Some(exited), 1));
        assert_eq!(ended(7 << 8, &idle), (None, 7));
        assert_eq!(ended(15, &busy), (None, 143));
        assert!(told(9, &busy).contains("SIGKILL ended the process"));
        let faulty = Snapshot { fault: "sent an empty packet".to_owned(), ..busy.clone() };
        assert!(told(0, &faulty).ends_with("it sent an empty packet"));
    }
}
