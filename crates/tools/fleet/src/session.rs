//! One run of the system's ssh: its input, output and timeouts.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::error::{Trouble, TroubleKind};

/// How often a waiting call checks for an interruption.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How much of the end of standard error is kept, bytes.
const KEPT: usize = 16 * 1024;
/// Bytes read at a time.
const CHUNK: usize = 32 * 1024;
/// Chunks queued for processing; a faster host has to wait.
const WAITING: usize = 8;
/// ssh's exit status for errors of the connection.
const OF_SSH: i32 = 255;
/// How long ssh may take to exit.
const FAREWELL: Duration = Duration::from_secs(2);

/// A running ssh. Dropping this kills it and its children.
pub(crate) struct Session<'a> {
    child: Child,
    stdin: Option<ChildStdin>,
    chunks: Receiver<Vec<u8>>,
    left: Vec<u8>,
    stderr: Arc<Mutex<Vec<u8>>>,
    stop: &'a AtomicBool,
    patience: Duration,
    ended: bool,
}

impl<'a> Session<'a> {
    /// Starts it. `patience` is how long the other side may be silent.
    pub(crate) fn start(
        mut command: Command,
        stop: &'a AtomicBool,
        patience: Duration,
    ) -> Result<Self, Trouble> {
        // Ctrl-C at a terminal is for this process, which then stops its children cleanly.
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let program = command.get_program().to_string_lossy().into_owned();
        let mut child = command.spawn().map_err(|e| {
            Trouble::wrong(format!("cannot start {program}: {e}"), "install it (Debian: openssh-client)")
        })?;
        let stderr = Arc::new(Mutex::new(Vec::new()));
        let (tell, chunks) = sync_channel(WAITING);
        if let Some(from) = child.stdout.take() {
            thread::spawn(move || pass_on(from, &tell));
        }
        if let Some(from) = child.stderr.take() {
            let kept = Arc::clone(&stderr);
            thread::spawn(move || keep(from, &kept));
        }
        let stdin = child.stdin.take();
        Ok(Self { child, stdin, chunks, left: Vec::new(), stderr, stop, patience, ended: false })
    }

    /// Sends all of this. The other side's answer must be short until then.
    pub(crate) fn say(&mut self, octets: &[u8]) {
        let Some(stdin) = &mut self.stdin else { return };
        let said = stdin.write_all(octets).and_then(|()| stdin.flush());
        // If the other side has exited, it reports why.
        if said.is_err() {
            self.stdin = None;
        }
    }

    /// Sends what a thread reads, and then closes the input.
    pub(crate) fn say_all(&mut self, mut from: impl Read + Send + 'static) {
        if let Some(mut to) = self.stdin.take() {
            thread::spawn(move || io::copy(&mut from, &mut to));
        }
    }

    /// Sends what is read, reports the progress, and then closes the input. A stalled transfer counts as silence.
    pub(crate) fn send(
        &mut self,
        mut from: impl Read + Send + 'static,
        told: &mut dyn FnMut(u64),
    ) -> Result<(), Trouble> {
        let Some(mut to) = self.stdin.take() else { return Ok(()) };
        let sent = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&sent);
        let carrier = thread::spawn(move || {
            let mut chunk = vec![0; CHUNK];
            while let Ok(n @ 1..) = read(&mut from, &mut chunk) {
                if to.write_all(&chunk[..n]).is_err() {
                    return;
                }
                counted.fetch_add(n as u64, Ordering::Relaxed);
            }
        });
        let (mut before, mut since) = (0, Instant::now());
        while !carrier.is_finished() {
            if self.stop.load(Ordering::Relaxed) {
                return Err(Trouble::stopped());
            }
            thread::sleep(LOOK_EVERY / 5);
            let now = sent.load(Ordering::Relaxed);
            if now > before {
                (before, since) = (now, Instant::now());
                told(now);
            } else if since.elapsed() > self.patience {
                return Err(self.silent());
            }
        }
        Ok(())
    }

    /// The next bytes; empty at the end.
    pub(crate) fn hear(&mut self) -> Result<Vec<u8>, Trouble> {
        if !self.left.is_empty() {
            return Ok(std::mem::take(&mut self.left));
        }
        let until = Instant::now() + self.patience;
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Err(Trouble::stopped());
            }
            match self.chunks.recv_timeout(LOOK_EVERY) {
                Ok(chunk) => return Ok(chunk),
                Err(RecvTimeoutError::Disconnected) => return Ok(Vec::new()),
                Err(RecvTimeoutError::Timeout) if Instant::now() < until => {}
                Err(RecvTimeoutError::Timeout) => return Err(self.silent()),
            }
        }
    }

    /// The next bytes, at most this many; empty at the end.
    pub(crate) fn take(&mut self, most: u64) -> Result<Vec<u8>, Trouble> {
        let mut chunk = self.hear()?;
        let n = chunk.len().min(usize::try_from(most).unwrap_or(usize::MAX));
        self.left = chunk.split_off(n);
        Ok(chunk)
    }

    /// The next line without its line end; `None` at the end. A longer line than this is an error.
    pub(crate) fn line(&mut self, longest: usize) -> Result<Option<String>, Trouble> {
        let mut line = Vec::new();
        loop {
            let mut chunk = self.hear()?;
            if chunk.is_empty() {
                return Ok((!line.is_empty()).then(|| String::from_utf8_lossy(&line).into_owned()));
            }
            if let Some(end) = chunk.iter().position(|b| *b == b'\n') {
                self.left = chunk.split_off(end + 1);
                chunk.pop();
                line.extend(chunk);
                return Ok(Some(String::from_utf8_lossy(&line).into_owned()));
            }
            line.extend(chunk);
            if line.len() > longest {
                return Err(too_much(longest));
            }
        }
    }

    /// The rest of the output; more than this is an error.
    pub(crate) fn rest(&mut self, most: usize) -> Result<Vec<u8>, Trouble> {
        let mut all = Vec::new();
        loop {
            let chunk = self.hear()?;
            if chunk.is_empty() {
                return Ok(all);
            }
            all.extend(chunk);
            if all.len() > most {
                return Err(too_much(most));
            }
        }
    }

    /// Waits for ssh to exit. Connection failures are errors; the status is that of the script on the host.
    pub(crate) fn end(&mut self) -> Result<Option<i32>, Trouble> {
        // Closes the input.
        self.stdin = None;
        let until = Instant::now() + self.patience;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => {
                    self.ended = true;
                    return self.judge(status);
                }
                Ok(None) if self.stop.load(Ordering::Relaxed) => return Err(Trouble::stopped()),
                Ok(None) if Instant::now() < until => thread::sleep(LOOK_EVERY / 5),
                Ok(None) => return Err(self.silent()),
                Err(e) => return Err(Trouble::wrong(format!("cannot wait for ssh: {e}"), "try again")),
            }
        }
    }

    /// Text from standard error.
    pub(crate) fn complaints(&self) -> String {
        String::from_utf8_lossy(&self.stderr.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }

    fn judge(&self, status: ExitStatus) -> Result<Option<i32>, Trouble> {
        if status.code() != Some(OF_SSH) {
            return Ok(status.code());
        }
        // The last output may arrive a moment later.
        let until = Instant::now() + FAREWELL;
        while self.complaints().is_empty() && Instant::now() < until {
            thread::sleep(LOOK_EVERY / 5);
        }
        Err(of_connection(&self.complaints()))
    }

    fn silent(&self) -> Trouble {
        let said = self.complaints();
        let last = said.lines().rfind(|l| !l.trim().is_empty());
        let last = last.map_or_else(String::new, |l| format!(" (last message: {l})"));
        Trouble::new(
            TroubleKind::Lost,
            format!("no answer for {} s{last}", self.patience.as_secs()),
            "check that it is reachable; a slow link may need a longer `timeout_s`",
        )
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

fn too_much(most: usize) -> Trouble {
    Trouble::wrong(
        format!("unexpected output of more than {most} bytes"),
        "check what its login shell prints",
    )
}

/// ssh's messages, which OpenSSH prints in English only: any of these words, the kind of trouble, what to say of it, and the remedy.
const MESSAGES: [(&[&str], TroubleKind, &str, &str); 6] = [
    (
        &["HOST IDENTIFICATION HAS CHANGED"],
        TroubleKind::Refused,
        "its host key has changed; another machine may be answering",
        "compare `ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub` there with what ssh shows; if they match, remove \
         the old key with ssh-keygen -R",
    ),
    (
        &["Host key verification failed", "host key is known"],
        TroubleKind::Refused,
        "its host key is unknown, or differs from the known one",
        "log in once by hand and compare the key, or add it to known_hosts",
    ),
    (
        &["Permission denied", "Too many authentication failures", "no mutual signature"],
        TroubleKind::Refused,
        "login refused: {last}",
        "install a key without a passphrase there: ssh-copy-id",
    ),
    (
        &["Could not resolve hostname"],
        TroubleKind::Lost,
        "no such host: {last}",
        "correct its `ssh` in the fleet file",
    ),
    (
        &["Bad owner or permissions", "Bad configuration option", "Can't open user config file"],
        TroubleKind::Wrong,
        "invalid ssh configuration: {last}",
        "correct it, or `ssh_config` in the fleet file",
    ),
    (
        // All others.
        &[""],
        TroubleKind::Lost,
        "not reachable: {last}",
        "check that the host is up and sshd is running",
    ),
];

fn of_connection(said: &str) -> Trouble {
    let last = said.lines().map(str::trim).rfind(|l| !l.is_empty()).unwrap_or("ssh failed");
    let known = MESSAGES.iter().find(|(words, ..)| words.iter().any(|w| said.contains(w)));
    let (_, kind, what, remedy) = known.unwrap_or(&MESSAGES[MESSAGES.len() - 1]);
    Trouble::new(*kind, what.replace("{last}", last), *remedy)
}

fn pass_on(mut from: impl Read, tell: &SyncSender<Vec<u8>>) {
    let mut chunk = vec![0; CHUNK];
    while let Ok(n @ 1..) = read(&mut from, &mut chunk) {
        if tell.send(chunk[..n].to_vec()).is_err() {
            return;
        }
    }
}

fn keep(mut from: impl Read, kept: &Mutex<Vec<u8>>) {
    let mut chunk = vec![0; 4096];
    while let Ok(n @ 1..) = read(&mut from, &mut chunk) {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&chunk[..n]);
        let over = kept.len().saturating_sub(KEPT);
        kept.drain(..over);
    }
}

fn read(from: &mut impl Read, to: &mut [u8]) -> io::Result<usize> {
    loop {
        match from.read(to) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh<'a>(script: &str, stop: &'a AtomicBool, patience: Duration) -> Session<'a> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Session::start(command, stop, patience).unwrap()
    }

    #[test]
    fn lines_come_one_by_one_and_the_status_at_the_end() {
        let stop = AtomicBool::new(false);
        let mut s = sh("read a; echo \"$a\"; echo two; printf three; exit 3", &stop, Duration::from_secs(60));
        s.say(b"one\n");
        for expected in ["one", "two", "three"] {
            assert_eq!(s.line(100).unwrap().as_deref(), Some(expected));
        }
        assert_eq!(s.line(100).unwrap(), None);
        assert_eq!(s.end().unwrap(), Some(3));
    }

    #[test]
    fn endless_output_and_endless_silence_are_given_up_and_so_is_what_nobody_wants() {
        let stop = AtomicBool::new(false);
        assert!(sh("cat /dev/zero", &stop, Duration::from_secs(60)).line(1 << 20).is_err());
        assert!(sh("cat /dev/zero", &stop, Duration::from_secs(60)).rest(1 << 20).is_err());
        let silent = sh("exec sleep 1000", &stop, Duration::from_millis(10)).hear().unwrap_err();
        assert_eq!(silent.kind, TroubleKind::Lost);
        stop.store(true, Ordering::Relaxed);
        assert_eq!(
            sh("exec sleep 1000", &stop, Duration::from_secs(600)).hear().unwrap_err().kind,
            TroubleKind::Stopped
        );
    }

    #[test]
    fn sshs_messages_are_told_apart() {
        // As OpenSSH 9.2 prints them.
        for (said, kind) in [
            ("ssh: connect to host 10.0.0.9 port 22: Connection timed out", TroubleKind::Lost),
            ("ssh: connect to host 10.0.0.9 port 22: No route to host", TroubleKind::Lost),
            ("ssh: Could not resolve hostname nowhere: Name or service not known", TroubleKind::Lost),
            (
                "No ED25519 host key is known for 10.0.0.9 and you have requested strict checking.\nHost key verification failed.",
                TroubleKind::Refused,
            ),
            (
                "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed.",
                TroubleKind::Refused,
            ),
            ("user@10.0.0.9: Permission denied (publickey).", TroubleKind::Refused),
        ] {
            assert_eq!(of_connection(said).kind, kind, "{said}");
        }
    }
}
