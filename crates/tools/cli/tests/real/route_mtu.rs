//! The longest packet over a source route: each further hop takes an address of four octets (RFC
//! 4728, section 6.7).
//!
//! Needs root, network namespaces, and ip, nft, ping and python3 (`.ci/install test`). Without root the tests are skipped with
//! a message; in CI they fail.

use std::time::Duration;

use crate::mesh::{Mesh, skip_without_root};

/// How long a busy machine may take for what takes some milliseconds.
const PATIENCE: Duration = Duration::from_secs(20);

/// Sends 300,000 bytes to each client.
const SERVER: &str = "
import socket
listener = socket.create_server(('', 5001))
while True:
    with listener.accept()[0] as client:
        client.sendall(bytes(300_000))
";
/// Takes what the server sends, and says how much.
const CLIENT: &str = "
import socket
with socket.create_connection(('10.0.0.8', 5001), timeout=20) as server:
    print(sum(len(part) for part in iter(lambda: server.recv(65536), b'')), 'octets')
";

#[test]
fn the_packets_of_programs_follow_the_length_of_the_route() {
    skip_without_root!();
    let mut mesh = Mesh::line(8);
    mesh.start_all("dsr", &[]);
    let arrives = |m: &Mesh, octets: usize, to: usize| {
        m.run(0, &format!("ping -c 1 -W 2 -M do -s {} 10.0.0.{}", octets - 28, to + 1))
    };
    // Ethernet carries 1500 octets; DSR's fixed part, four addresses in their option, and a request for an acknowledgement in
    // its longer form, behind a header of its own, take 4 + 4 + 16 + 12.
    assert!(mesh.ip(0, "-o link show mesh0").contains("mtu 1464 "));
    mesh.until("the longest packet arrives over two hops", PATIENCE, |m| arrives(m, 1464, 2).0);
    mesh.until("the longest packet arrives over five hops", PATIENCE, |m| arrives(m, 1464, 5).0);

    // Two addresses more over seven hops. The answer needs them, too.
    mesh.until("there is a route over seven hops", PATIENCE, |m| m.try_ping(0, 7));
    mesh.until("its users are told how long packets may be", PATIENCE, |m| {
        let (ok, said) = arrives(m, 1464, 7);
        assert!(!ok, "1464 octets cannot arrive: {said}");
        said.contains("mtu = 1456") || said.contains("mtu=1456")
    });
    mesh.until("what fits arrives", PATIENCE, |m| arrives(m, 1456, 7).0);
    assert!(arrives(&mesh, 1464, 2).0, "other destinations keep their length");

    // A connection that begins at the other end, which was not told yet.
    let _server = mesh.start_program(7, &["python3", "-c", SERVER]);
    mesh.until("a file arrives by TCP", PATIENCE, |m| {
        m.run_args(0, &["python3", "-c", CLIENT]).1.contains("300000 octets")
    });
}
