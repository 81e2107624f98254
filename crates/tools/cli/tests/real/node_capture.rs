//! `wayhop ctl capture` of a `wayhop node`, live.
//!
//! Needs root, network namespaces, and ip, nft, ping and tshark (`.ci/install test`). Without root the tests are skipped with
//! a message; in CI they fail.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use wayhop_testkit::tshark;
use wayhop_trace::{CaptureReader, CapturedFrame};

use crate::mesh::{Mesh, WAYHOP, skip_without_root};

fn frames(file: &Path) -> Vec<CapturedFrame> {
    let mut reader = CaptureReader::new(File::open(file).unwrap()).unwrap();
    let (mut frame, mut all) = (CapturedFrame::default(), Vec::new());
    while reader.next_into(&mut frame).unwrap() {
        all.push(CapturedFrame { number: 0, ..frame.clone() });
    }
    all
}

/// Begins a capture at a node's socket.
fn capture(mesh: &Mesh, name: &str, arguments: &[&str], to: Stdio) -> Child {
    let socket = mesh.socket(name);
    let mut ctl = Command::new(WAYHOP);
    ctl.arg("ctl").arg("--socket").arg(&socket).arg("capture").args(arguments);
    ctl.stdout(to).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn frames_of_a_live_capture_are_those_of_the_file_and_tshark_reads_them() {
    skip_without_root!();
    // 5 echo requests and replies; with AODV the kernel carries those, and the node a request and a reply.
    for (protocol, least) in [("dsr", 10), ("aodv", 2)] {
        let mut mesh = Mesh::line(2);
        let name = format!("wht-capture-{protocol}-{}", std::process::id());
        mesh.start(0, protocol, &[&format!("control={name}")]);
        mesh.start(1, protocol, &[]);
        let live = mesh.folder().join("live.pcapng");
        let mut ctl =
            capture(&mesh, &name, &["--interface", "eth1", "--out", live.to_str().unwrap()], Stdio::null());
        // Its beginning comes with the answer: from then on it has every frame.
        let begun = |_: &Mesh| live.metadata().is_ok_and(|m| m.len() > 0);
        mesh.until("the capture has begun", Duration::from_secs(20), begun);
        mesh.ping(0, 1, 5);
        mesh.stop_all();
        assert_eq!(ctl.wait().unwrap().code(), Some(0), "it ends well with its node");

        let (live_frames, all) = (frames(&live), frames(Path::new(&mesh.capture_file(0))));
        assert!(live_frames.len() >= least, "{protocol}: {live_frames:?}");
        assert!(all.ends_with(&live_frames), "{live_frames:?} is not the end of {all:?}");
        assert!(live_frames.iter().any(|f| f.sent == Some(true)));
        assert!(live_frames.iter().any(|f| f.sent == Some(false)));
        assert_eq!(tshark::complaints(&live).unwrap(), Vec::<Vec<String>>::new());
        let names = tshark::fields(&live, "", &["frame.interface_name"]).unwrap();
        assert!(names.iter().all(|n| n[..] == ["eth1"]), "{names:?}");
    }
}

#[test]
fn a_capture_ends_with_its_count_or_reader_and_decode_reads_it_from_a_pipe() {
    skip_without_root!();
    let mut mesh = Mesh::line(2);
    let name = format!("wht-piped-{}", std::process::id());
    mesh.start(0, "dsr", &[&format!("control={name}")]);
    mesh.start(1, "dsr", &[]);

    let mut ctl = capture(&mesh, &name, &["--count", "3"], Stdio::piped());
    // The stream's beginning comes when the node has accepted the reader: the request that the first ping causes is in it.
    let mut stream = ctl.stdout.take().unwrap();
    let mut beginning = [0; 28];
    stream.read_exact(&mut beginning).unwrap();
    let mut decode = Command::new(WAYHOP)
        .args(["decode", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let busy = mesh.start_ping(0, 1);
    std::io::copy(&mut (&beginning[..]).chain(stream), &mut decode.stdin.take().unwrap()).unwrap();
    let decoded = decode.wait_with_output().unwrap();
    assert_eq!(ctl.wait().unwrap().code(), Some(0));
    let text = String::from_utf8(decoded.stdout).unwrap();
    assert!(decoded.status.success() && text.contains("\"rreq\""), "{text}");
    let frames =
        text.lines().map(|l| serde_json::from_str::<serde_json::Value>(l).unwrap()["frame"].as_u64());
    assert!(frames.flatten().all(|f| f <= 3), "{text}");

    // A reader that takes a little and goes; one that goes while nothing comes.
    let mut ctl = capture(&mesh, &name, &[], Stdio::piped());
    ctl.stdout.take().unwrap().read_exact(&mut [0; 300]).unwrap();
    assert_eq!(ctl.wait().unwrap().code(), Some(0));
    drop(busy);
    mesh.stop(1);
    let mut ctl = capture(&mesh, &name, &[], Stdio::piped());
    ctl.stdout.take().unwrap().read_exact(&mut [0; 28]).unwrap();
    assert_eq!(ctl.wait().unwrap().code(), Some(0));

    let refused = capture(&mesh, &name, &["--interface", "eth9"], Stdio::piped()).wait_with_output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("the node has no interface \"eth9\"; its interfaces are eth1"), "{said}");
    mesh.stop(0);
}

#[test]
fn a_stalled_reader_keeps_no_packet_waiting_and_hears_what_is_missing() {
    skip_without_root!();
    let mut mesh = Mesh::line(2);
    let name = format!("wht-slow-{}", std::process::id());
    mesh.start(0, "dsr", &[&format!("control={name}")]);
    mesh.start(1, "dsr", &[]);
    let mut ctl = capture(&mesh, &name, &[], Stdio::piped());
    let mut reader = ctl.stdout.take().unwrap();
    let mut stream = vec![0; 28];
    reader.read_exact(&mut stream).unwrap();
    // 6 MB each way: more than the queue, the socket and the pipe hold together.
    let (ok, said) = mesh.run(0, "ping -q -c 4000 -i 0.002 -s 1400 -W 10 10.0.0.2");
    // A node that waited for the reader would lose all but the first thousand; a busy machine loses one now and then.
    let received = said.split(", ").find_map(|s| s.strip_suffix(" received")?.parse::<u32>().ok());
    assert!(ok && received.is_some_and(|n| n >= 3800), "{said}");
    // Now it reads, and a frame that has room reports those that had none.
    let rest = std::thread::spawn(move || {
        reader.read_to_end(&mut stream).unwrap();
        stream
    });
    mesh.ping(0, 1, 5);
    mesh.stop_all();
    assert_eq!(ctl.wait().unwrap().code(), Some(0));
    let file = mesh.folder().join("slow.pcapng");
    std::fs::write(&file, rest.join().unwrap()).unwrap();
    let got = frames(&file);
    let mut all = frames(Path::new(&mesh.capture_file(0)));
    // The node may have sent something before the capture began, whose first frame had room.
    all.retain(|f| f.time_ns >= got[0].time_ns);
    let shown = Command::new("tshark")
        .args(["-X", "read_format:MIME Files Format", "-V", "-r"])
        .arg(&file)
        .output()
        .unwrap();
    let shown = String::from_utf8_lossy(&shown.stdout);
    let counts = shown.lines().filter_map(|l| l.trim().strip_prefix("Number of Dropped Packets: "));
    let dropped: Vec<usize> = counts.map(|n| n.parse().unwrap()).collect();
    assert!(dropped.first().is_some_and(|n| *n > 0), "the test sends more than fits: {dropped:?}");
    assert_eq!(got.len() + dropped.last().unwrap(), all.len(), "every frame is there or counted");
}
