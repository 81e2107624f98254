//! Captures that are read while they are made: tshark is the oracle.

use std::fs;
use std::io::{self, Write};
use std::process::Command;
use std::sync::{Arc, Mutex};

use wayhop_core::IfaceId;
use wayhop_testkit::tshark;
use wayhop_trace::{Direction, EthernetFrame, FrameEvent, FrameStream, InterfaceInfo, LinkKind};

/// A reader that has no room now and then.
#[derive(Clone, Default)]
struct Reader {
    got: Arc<Mutex<Vec<u8>>>,
    full: Arc<Mutex<bool>>,
}

impl Reader {
    fn be_full(&self, full: bool) {
        *self.full.lock().expect("a lock") = full;
    }
}

impl Write for Reader {
    fn write(&mut self, octets: &[u8]) -> io::Result<usize> {
        if *self.full.lock().expect("a lock") {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        self.got.lock().expect("a lock").extend(octets);
        Ok(octets.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn interfaces() -> [InterfaceInfo; 2] {
    let of = |name: &str, kind| InterfaceInfo { name: name.to_owned(), kind };
    [of("radio", LinkKind::Ieee80211), of("wire", LinkKind::Ethernet)]
}

/// An 802.11 acknowledgement to 02:00:00:00:00:02.
const ACK: [u8; 10] = [0xd4, 0, 0, 0, 2, 0, 0, 0, 0, 2];

fn heard(ms: u64) -> FrameEvent<'static> {
    let sent = crate::common::sent(ms * 1_000_000, &ACK);
    FrameEvent { direction: Direction::Rx, signal_dbm: -71.2, retries: 0, ..sent }
}

fn sent(ms: u64, bytes: &[u8]) -> EthernetFrame<'_> {
    EthernetFrame {
        iface: IfaceId(1),
        time_ns: ms * 1_000_000,
        direction: Direction::Tx,
        bytes,
        original_len: bytes.len() as u32,
        signal_dbm: f32::NAN,
    }
}

/// What tshark says of the file's own structure: the counts of its Interface Statistics Blocks, in order.
fn statistics(file: &std::path::Path) -> Vec<(String, String)> {
    let shown = Command::new("tshark")
        .args(["-X", "read_format:MIME Files Format", "-V", "-r"])
        .arg(file)
        .output()
        .expect("tshark is the oracle of this test: apt-get install tshark");
    let text = String::from_utf8_lossy(&shown.stdout).into_owned();
    let all = |what: &str| -> Vec<String> {
        let lines = text.lines().filter_map(|l| l.trim().strip_prefix(what));
        lines.map(|v| v.trim().to_owned()).collect()
    };
    let (received, dropped) = (all("Number of Received Packets:"), all("Number of Dropped Packets:"));
    assert_eq!(received.len(), dropped.len(), "{text}");
    received.into_iter().zip(dropped).collect()
}

#[test]
fn tshark_reads_frames_of_both_kinds_with_names_directions_signal_and_rate() {
    let (folder, reader) = (tempfile::tempdir().expect("a folder"), Reader::default());
    let mut stream = FrameStream::begin(reader.clone(), "mid", &interfaces(), None, 40).expect("a beginning");
    let long = [[2, 0, 0, 0, 0, 1].as_slice(), &[2, 0, 0, 0, 0, 2], &[0x08, 0x00], &[0; 50]].concat();
    stream.frame(&heard(1)).expect("a reader");
    stream.ethernet(&sent(2, &long)).expect("a reader");
    drop(stream);
    let file = folder.path().join("s.pcapng");
    fs::write(&file, &*reader.got.lock().expect("a lock")).expect("a file");
    let of = [
        "frame.time_epoch",
        "frame.interface_name",
        "frame.packet_flags_direction",
        "frame.len",
        "frame.cap_len",
        "radiotap.dbm_antsignal",
        "radiotap.datarate",
        "radiotap.channel.freq",
    ];
    let rows = tshark::fields(&file, "", &of).expect("tshark");
    assert_eq!(rows.len(), 2);
    // Time, name, direction (1 in, 2 out).
    assert!(rows[0][0].starts_with("0.001") && rows[1][0].starts_with("0.002"), "{rows:?}");
    let named = |r: &[String]| (r[1].clone(), u8::from_str_radix(r[2].trim_start_matches("0x"), 16).ok());
    assert_eq!(named(&rows[0]), ("radio".to_owned(), Some(1)));
    assert_eq!(named(&rows[1]), ("wire".to_owned(), Some(2)));
    assert_eq!(rows[0][5..], ["-71", "2", "2412"]);
    assert_eq!(rows[1][3..5], ["64", "40"], "cut, and its length known");
}

#[test]
fn frames_that_the_reader_had_no_room_for_are_counted_in_the_stream() {
    let (folder, reader) = (tempfile::tempdir().expect("a folder"), Reader::default());
    let mut stream =
        FrameStream::begin(reader.clone(), "mid", &interfaces(), Some("radio"), 200).expect("a beginning");
    stream.frame(&heard(1)).expect("a reader");
    reader.be_full(true);
    for ms in 2..9 {
        stream.frame(&heard(ms)).expect("a reader that is slow");
    }
    reader.be_full(false);
    stream.frame(&heard(9)).expect("a reader");
    // Of another interface than was asked for.
    stream.ethernet(&sent(10, &[0; 60])).expect("a reader");
    drop(stream);
    let file = folder.path().join("s.pcapng");
    fs::write(&file, &*reader.got.lock().expect("a lock")).expect("a file");
    let rows = tshark::fields(&file, "", &["frame.time_epoch", "frame.interface_id"]).expect("tshark");
    let times: Vec<&str> = rows.iter().map(|r| &r[0][..5]).collect();
    assert_eq!(times, ["0.001", "0.009"]);
    assert!(rows.iter().all(|r| r[1] == "0"), "{rows:?}");
    let counts = statistics(&file);
    let counts: Vec<(&str, &str)> = counts.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    assert_eq!(counts, [("8", "7"), ("9", "7")], "before the frame that had room, and at the end");
}
