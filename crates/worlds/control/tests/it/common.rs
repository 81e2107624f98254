//! A server with an owner's thread that gives prepared answers.

use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tempfile::TempDir;
use wayhop_control::{About, Access, Call, Client, NodeAbout, Server};

pub(crate) fn about() -> About {
    let node = |node, name: &str| NodeAbout::new(node, name, wayhop_core::NodeId(node).default_addr());
    About::new("chain", "emulation", "dsr", vec![node(0, "left"), node(1, "mid"), node(2, "right")])
}

/// A server in a folder of its own, whose owner's thread polls for calls as a daemon does.
pub(crate) struct TestServer {
    pub(crate) server: Arc<Server>,
    pub(crate) path: PathBuf,
    end: Arc<AtomicBool>,
    owner: Option<JoinHandle<()>>,
    _folder: TempDir,
}

impl TestServer {
    pub(crate) fn with(mut owner: impl FnMut(Call) + Send + 'static) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("run").join("chain.sock");
        let server = Arc::new(Server::bind(&path, about(), Access::Owner).expect("a socket"));
        let end = Arc::new(AtomicBool::new(false));
        let thread = std::thread::spawn({
            let (server, end) = (Arc::clone(&server), Arc::clone(&end));
            move || {
                while !end.load(Ordering::Relaxed) {
                    let fd = server.fd();
                    let mut fds = [PollFd::from_borrowed_fd(fd.as_fd(), PollFlags::IN)];
                    let short = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
                    let _ = poll(&mut fds, Some(&short));
                    // Only what poll reports: reading anything else would block for ever.
                    if fds[0].revents().contains(PollFlags::IN) {
                        owner(server.next().expect("a readable descriptor means a call"));
                    }
                }
            }
        });
        Self { server, path, end, owner: Some(thread), _folder: folder }
    }

    pub(crate) fn client(&self) -> Client {
        Client::connect(&self.path).expect("a connection")
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Relaxed);
        if let Some(owner) = self.owner.take() {
            let outcome = owner.join();
            assert!(outcome.is_ok() || std::thread::panicking(), "the owner's thread panicked");
        }
    }
}
