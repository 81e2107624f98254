//! The sockets.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpSocket};

use crate::access::Access;
use crate::editor::{Editing, Editor};
use crate::library::Library;
#[cfg(feature = "live")]
use crate::live::Live;
use crate::places::Places;
use crate::routes::{Catalogue, Studio, router};

/// How long a request's head may take to come.
const HEAD: Duration = Duration::from_secs(10);
/// What the kernel keeps of an answer that nobody reads, bytes. Without this bound it takes megabytes for each connection.
const UNREAD: u32 = 512 << 10;
const WAITING: u32 = 1024;

/// Serves two runs, beside each other, until the process is told to end.
///
/// # Errors
/// A message for the user: one is no run directory, or nobody can listen there.
pub fn serve_pair(runs: [&Path; 2], at: SocketAddr, ready: impl FnOnce(&str)) -> Result<(), String> {
    let library = Library::pair(runs)?;
    let query = match &library.names()[..] {
        [a, b] => format!("?run={}&with={}", escaped(a), escaped(b)),
        _ => String::new(),
    };
    // With a token, the address has a query already.
    let ready = |address: &str| match address.split_once('?') {
        Some((base, token)) => ready(&format!("{base}{query}&{token}")),
        None => ready(&format!("{address}{query}")),
    };
    serve_studio(Catalogue::of(library), at, ready)
}

/// A name as it stands in the query of an address (RFC 3986, section 3.4).
fn escaped(name: &str) -> String {
    let octet = |b: u8| {
        if b.is_ascii_alphanumeric() || b"-._~".contains(&b) {
            char::from(b).to_string()
        } else {
            format!("%{b:02X}")
        }
    };
    name.bytes().map(octet).collect()
}

/// Serves the runs of `path`, a run directory or a folder of them, until the process is told to end. `ready` is called once with
/// the address to open.
///
/// # Errors
/// A message for the user: there is no run, or nobody can listen there.
pub fn serve(path: &Path, at: SocketAddr, ready: impl FnOnce(&str)) -> Result<(), String> {
    serve_studio(Catalogue::of(Library::new(path)?), at, ready)
}

/// As [`serve`], with the editor of a scenario. Its runs are shown, and what runs on this machine. Who has the address may change the file, so there is a token
/// on loopback, too: other users of this machine can connect there.
///
/// # Errors
/// A message for the user: the scenario cannot be read, or nobody can listen there.
pub fn serve_editor(editing: Editing, at: SocketAddr, ready: impl FnOnce(&str)) -> Result<(), String> {
    let library = Library::of_folder(&editing.runs)?;
    let shown = Catalogue { editor: Some(Editor::new(editing)?), ..Catalogue::of(library) };
    #[cfg(feature = "live")]
    let shown = Catalogue { live: Some(Live::default()), ..shown };
    serve_studio(shown, at, ready)
}

/// Shows what runs on this machine - emulations, labs and nodes whose control sockets let this user in -, or the one of a name;
/// and the recorded runs of a folder, if there is one. Who has the address may move nodes, so there is a token on loopback, too.
///
/// # Errors
/// A message for the user: nobody answers under that name, or nobody can listen there.
#[cfg(feature = "live")]
pub fn serve_live(
    name: Option<String>,
    runs: &Path,
    at: SocketAddr,
    ready: impl FnOnce(&str),
) -> Result<(), String> {
    let shown = Catalogue { live: Some(Live::new(name)?), ..Catalogue::of(Library::of_any_folder(runs)) };
    serve_studio(shown, at, ready)
}

fn serve_studio(shown: Catalogue, at: SocketAddr, ready: impl FnOnce(&str)) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|e| format!("cannot start threads: {e}"))?;
    let outcome = runtime.block_on(async {
        let listener = listen(at)
            .map_err(|e| format!("cannot listen on {at}: {e}; choose another --port or --listen"))?;
        let bound = listener.local_addr().map_err(|e| e.to_string())?;
        let access = Access::new(bound, shown.can_be_changed())?;
        // Who knows the address may already end it.
        let told_to_end = told_to_end()?;
        ready(&address(bound, own_address(bound.ip()), access.token()));
        let studio = Arc::new(Studio::new(access, shown));
        tokio::select! {
            () = accept(listener, Arc::clone(&studio)) => {}
            () = told_to_end => {}
        }
        studio.end();
        Ok(())
    });
    // Nobody needs the reads that are still running.
    runtime.shutdown_background();
    outcome
}

fn listen(at: SocketAddr) -> io::Result<TcpListener> {
    let socket = if at.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // As for every server: connections of one that has just ended do not block the port. (On Windows this means something else.)
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.set_send_buffer_size(UNREAD)?;
    socket.bind(at)?;
    socket.listen(WAITING)
}

/// The address to open in a browser: 0.0.0.0 is none. Without a network, only this machine can open it.
fn address(mut at: SocketAddr, own: Option<IpAddr>, token: Option<&str>) -> String {
    if at.ip().is_unspecified() {
        let local = if at.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { Ipv6Addr::LOCALHOST.into() };
        at.set_ip(own.unwrap_or(local));
    }
    token.map_or_else(|| format!("http://{at}/"), |token| format!("http://{at}/?token={token}"))
}

/// The address of this machine that its default route uses. Connecting a UDP socket looks up the route and sends nothing (the far
/// addresses are those of RFC 5737 and RFC 3849).
fn own_address(any: IpAddr) -> Option<IpAddr> {
    let far: SocketAddr = if any.is_ipv4() { "192.0.2.1:9" } else { "[2001:db8::1]:9" }.parse().ok()?;
    let socket = UdpSocket::bind((any, 0)).ok()?;
    socket.connect(far).ok()?;
    Some(socket.local_addr().ok()?.ip())
}

/// Takes the signals that end a program. What it returns waits for one of them.
#[cfg(unix)]
fn told_to_end() -> Result<impl Future<Output = ()>, String> {
    use tokio::signal::unix::{SignalKind, signal};
    let take = |kind| signal(kind).map_err(|e| format!("cannot handle signals: {e}"));
    let (mut interrupted, mut terminated) = (take(SignalKind::interrupt())?, take(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! {
            _ = interrupted.recv() => {}
            _ = terminated.recv() => {}
        }
    })
}

#[cfg(not(unix))]
fn told_to_end() -> Result<impl Future<Output = ()>, String> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}

async fn accept(listener: TcpListener, studio: Arc<Studio>) {
    let router = router(studio);
    let places = Places::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Out of descriptors, say: that passes.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        // Who comes when all places are taken by busy connections waits in the kernel's queue.
        let place = places.take().await;
        let stream = TokioIo::new(place.watch(stream));
        let service = TowerToHyperService::new(router.clone());
        let mut server = http1::Builder::new();
        server.timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(16 << 10);
        // A connection that broke off has nobody to tell.
        tokio::spawn(place.hold(server.serve_connection(stream, service).with_upgrades()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_can_open_the_printed_address_even_without_a_network() {
        let shown = |at: &str, own: Option<&str>| {
            address(at.parse().unwrap(), own.map(|own| own.parse().unwrap()), None)
        };
        assert_eq!(shown("0.0.0.0:80", Some("192.0.2.7")), "http://192.0.2.7:80/");
        assert_eq!(shown("0.0.0.0:80", None), "http://127.0.0.1:80/");
        assert_eq!(shown("[::]:80", None), "http://[::1]:80/");
        assert_eq!(shown("192.0.2.1:80", Some("192.0.2.7")), "http://192.0.2.1:80/");
    }
}
