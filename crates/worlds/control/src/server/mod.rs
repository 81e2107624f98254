//! The server's end of the control socket.
//!
//! One thread does all input and output. The owner of the nodes, which may be in the middle of
//! real-time work, takes each [`Call`] when it is ready, and neither waits for a client nor
//! allocates for one beyond the limits here.

mod answer_line;
mod bind;
mod connection;
mod events;
mod io_loop;
mod shared;
mod stream;
mod stream_buffer;

use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;

use serde_json::Value;

use crate::about::About;
use crate::answer;
use crate::error::{ControlError, ErrorCode};
use crate::event::Event;
use crate::event_kind::EventKind;
use crate::limits;
use crate::messages::{NodeRef, Request};
use crate::paths;

pub use bind::Access;
pub use stream::Stream;

use answer_line::answer_line;
use shared::ServerState;

/// A socket that has its place, its file and its permissions, and that nobody serves yet. A daemon makes it while it has
/// the right to, and serves it when it has given up its privileges, which a thread started before would keep.
#[derive(Debug)]
pub struct BoundSocket {
    listener: UnixListener,
    socket: bind::SocketFile,
}

impl BoundSocket {
    /// As [`Server::bind`].
    pub fn new(path: &Path, access: Access) -> io::Result<Self> {
        let (listener, socket) = bind::bind(path, access)?;
        Ok(Self { listener, socket })
    }

    /// Begins to serve it, on a thread.
    ///
    /// # Errors
    /// If the system has no sockets or threads left.
    pub fn serve(self, about: About) -> io::Result<Server> {
        let Self { listener, socket } = self;
        let (shared, wake) = ServerState::new()?;
        let shared = Arc::new(shared);
        let about = Arc::new(about);
        let thread = {
            let (shared, about) = (Arc::clone(&shared), Arc::clone(&about));
            std::thread::Builder::new()
                .name("wh-control".to_owned())
                .spawn(move || io_loop::run(&listener, &wake, &shared, &about))?
        };
        Ok(Server { shared, about, socket, thread: Some(thread) })
    }
}

/// A control socket. Dropped, it closes its connections and removes its file.
#[derive(Debug)]
pub struct Server {
    shared: Arc<ServerState>,
    about: Arc<About>,
    socket: bind::SocketFile,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Listens at `path`. Makes its folder; takes the place of a socket that nobody answers at any more.
    ///
    /// # Errors
    /// If somebody answers there (`AddrInUse`), the path is longer than a socket's may be, or the system refuses.
    pub fn bind(path: &Path, about: About, access: Access) -> io::Result<Self> {
        BoundSocket::new(path, access)?.serve(about)
    }

    /// The socket of a run, for the user who started it: under the name of `about`, made fit for a file, or, if a run of that
    /// name is under way, with the process's number behind it. Sockets that killed runs left beside it are removed.
    ///
    /// # Errors
    /// As [`Server::bind`].
    pub fn for_run(about: &About) -> io::Result<Self> {
        let bind = |name: &str| {
            let path = paths::socket(name).map_err(io::Error::other)?;
            Self::bind(&path, About { name: name.to_owned(), ..about.clone() }, Access::Owner)
        };
        let name = paths::name_from(&about.name);
        if let Some(folder) = paths::socket(&name).map_err(io::Error::other)?.parent() {
            bind::forget_the_dead(folder);
        }
        let second = || format!("{}-{}", name.chars().take(32).collect::<String>(), std::process::id());
        bind(&name).or_else(|_| bind(&second()))
    }

    /// Where it listens.
    pub fn path(&self) -> &Path {
        &self.socket.path
    }

    /// Who it says that it is.
    pub fn about(&self) -> &About {
        &self.about
    }

    /// Readable while calls wait: for the owner's poll. Do not read from it.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.shared.calls_fd()
    }

    /// The next call, if one waits. Never blocks.
    pub fn next(&self) -> Option<Call> {
        let (client, id, node, request) = self.shared.take_call()?;
        Some(Call {
            request,
            node,
            reply: Reply { shared: Arc::clone(&self.shared), client, id, done: false },
        })
    }

    /// Whether anybody wants events of this kind: one atomic load, to leave out making them.
    pub fn wants(&self, kind: EventKind) -> bool {
        self.shared.wants(kind)
    }

    /// Tells the subscribers. Never blocks; free of cost when nobody subscribed.
    pub fn publish(&self, event: &Event) {
        if self.shared.wants(event.kind()) {
            self.shared.publish(event);
        }
    }

    /// The number of the node that a request names in its keys.
    pub fn resolve(&self, node: &NodeRef) -> Result<u32, ControlError> {
        self.about.resolve(node)
    }

    /// The ways of a link that a request means, as who sends and who hears: one, or both.
    pub fn ways(&self, a: &NodeRef, b: &NodeRef, one_way: bool) -> Result<Vec<(u32, u32)>, ControlError> {
        let (a, b) = (self.resolve(a)?, self.resolve(b)?);
        if a == b {
            let what = format!("node {a} has no link to itself");
            return Err(ControlError::refused(what, "give two different nodes"));
        }
        Ok(if one_way { vec![(a, b)] } else { vec![(a, b), (b, a)] })
    }

    /// A node went down or came back: `hello` says so from now on.
    pub fn set_up(&self, node: u32, up: bool) {
        self.shared.set_up(node, up);
    }

    /// Whether a node is up, by what the server was told.
    pub fn is_up(&self, node: u32) -> bool {
        self.shared.is_up(node)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stop();
        if let Some(thread) = self.thread.take() {
            // A panic of that thread was reported when it happened.
            let _ = thread.join();
        }
        self.socket.remove();
    }
}

/// A request that waits for its answer. Dropped without one, it is answered with an error.
#[derive(Debug)]
pub struct Call {
    /// What is asked for. `hello`, `subscribe` and `unsubscribe` never come here: the server answers them.
    pub request: Request,
    /// Which node is meant, one of [`About::nodes`]; none for all of them.
    pub node: Option<u32>,
    reply: Reply,
}

impl Call {
    /// Answers it.
    pub fn answer(mut self, outcome: Result<Value, ControlError>) {
        self.reply.send(outcome);
    }

    /// The interface to capture (`None` for all), and how many bytes of each frame, at a node with
    /// these interfaces.
    pub fn capture<'a>(
        &self,
        interfaces: impl Iterator<Item = &'a str> + Clone,
    ) -> Result<(Option<String>, u32), ControlError> {
        let Request::Capture { interface, snap_length_bytes } = &self.request else {
            return Ok((None, limits::MAX_FRAME_BYTES));
        };
        if let Some(name) = interface.as_deref().filter(|wanted| interfaces.clone().all(|n| n != *wanted)) {
            return Err(ControlError::no_interface(name, interfaces));
        }
        Ok((interface.clone(), snap_length_bytes.unwrap_or(limits::MAX_FRAME_BYTES)))
    }

    /// Answers that a stream of this format follows, and gives the stream. The connection carries nothing else from then on.
    pub fn stream(mut self, format: &str) -> Stream {
        self.reply.done = true;
        let answer = answer::Capture { stream: Some(format.to_owned()), ..answer::Capture::default() };
        let line = answer_line(self.reply.id, Ok(serde_json::to_value(answer).unwrap_or_default()));
        Stream::begin(&self.reply.shared, self.reply.client, line)
    }

    /// Answers it with a value that becomes JSON, such as those of [`crate::answer`].
    pub fn answer_with<T: serde::Serialize>(self, outcome: Result<&T, ControlError>) {
        let outcome = outcome.and_then(|v| {
            serde_json::to_value(v).map_err(|e| {
                let what = format!("the answer is not JSON: {e}");
                ControlError::new(ErrorCode::Other, what, "please report this bug")
            })
        });
        self.answer(outcome);
    }
}

#[derive(Debug)]
struct Reply {
    shared: Arc<ServerState>,
    client: u64,
    id: Option<u64>,
    done: bool,
}

impl Reply {
    fn send(&mut self, outcome: Result<Value, ControlError>) {
        self.done = true;
        self.shared.answer(self.client, answer_line(self.id, outcome));
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        if !self.done {
            self.send(Err(ControlError::new(
                ErrorCode::Unanswered,
                "the node did not answer",
                "it may be stopping; see `wayhop ctl list`",
            )));
        }
    }
}
