//! Captures: tshark and our own reader see what we write; captures by others decode as tshark shows them.

use std::fs::File;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use crate::common::{manifest, nodes, sent};
use proptest::prelude::*;
use serde_json::Value;
use tempfile::TempDir;
use wayhop_core::{Mac, NodeId};
use wayhop_protocols::CLASSIFIER;
use wayhop_testkit::tshark;
use wayhop_trace::{
    CaptureReader, CapturedFrame, Decoder, Direction, FrameEvent, Outputs, Recorder, RunDir, RunStatus,
    Summary,
};
use wayhop_wire::dsr::{
    AddrList, Builder, DsrOption, RouteError, RouteErrorKind, RouteReply, RouteRequest, SourceRoute,
};
use wayhop_wire::{aodv, dot11, ipv4, llc, udp};

const A: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const B: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
const C: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 3);

/// An 802.11 data frame with an IP packet.
fn data_frame(protocol: u8, ttl: u8, dst: Ipv4Addr, payload: &[u8]) -> Vec<u8> {
    let header = dot11::Repr::Data(dot11::Data {
        duration_us: 258,
        retry: false,
        more_fragments: false,
        receiver: Mac::from_addr(B),
        transmitter: Mac::from_addr(A),
        bssid: Mac([2, 0, 0, 0, 0, 0]),
        sequence: 77,
        fragment: 0,
    });
    let ip = ipv4::Repr { ttl, ..ipv4::Repr::new(A, dst, protocol, payload.len() as u16) };
    let mut f = vec![0; header.buffer_len() + llc::LEN + ipv4::HEADER_LEN];
    header.emit(&mut f);
    llc::Repr { ether_type: llc::IPV4 }.emit(&mut f[header.buffer_len()..]);
    ip.emit(&mut f[header.buffer_len() + llc::LEN..]);
    f.extend_from_slice(payload);
    f
}

fn dsr_frame(options: &[DsrOption<'_>]) -> Vec<u8> {
    let mut scratch = Vec::new();
    let mut b = Builder::new(&mut scratch, ipv4::protocol::NO_NEXT_HEADER);
    for o in options {
        b.push(o).expect("it fits");
    }
    data_frame(ipv4::protocol::DSR, 63, C, b.finish())
}

fn aodv_frame(m: &aodv::Message<'_>) -> Vec<u8> {
    let mut payload = vec![0; udp::HEADER_LEN + m.buffer_len()];
    m.emit(&mut payload[udp::HEADER_LEN..]).expect("it fits");
    udp::Repr { src_port: 654, dst_port: 654, payload_len: m.buffer_len() as u16 }.emit(&mut payload, A, C);
    data_frame(ipv4::protocol::UDP, 1, C, &payload)
}

/// Writes the capture of node 0 and tells where it is.
fn capture(dir: &TempDir, snaplen: u32, frames: &[FrameEvent<'_>]) -> PathBuf {
    let run = RunDir::create(dir.path(), &manifest(), CLASSIFIER).expect("an empty directory");
    let outputs = Outputs { tables: false, captures: Some(snaplen), ..Outputs::default() };
    let mut r = Recorder::start(run.clone(), &outputs, nodes(2)).expect("a recorder");
    for f in frames {
        r.frame(f);
    }
    r.finish(&mut Summary::default(), RunStatus::Complete).expect("room on the disk");
    run.capture_path("n0")
}

/// tshark's hexadecimal numbers in decimal, and everything else as it is.
pub(crate) fn decimal(v: String) -> String {
    match v.strip_prefix("0x").map(|hex| u64::from_str_radix(hex, 16)) {
        Some(Ok(n)) => n.to_string(),
        _ => v,
    }
}

pub(crate) fn decode(path: &Path) -> Vec<Value> {
    let decoder = Decoder::new(File::open(path).expect("the capture"), CLASSIFIER).expect("a capture");
    decoder.collect::<Result<_, _>>().expect("a whole capture")
}

fn routing_frames() -> Vec<Vec<u8>> {
    let hops = [A, B];
    let addresses = AddrList::from(&hops[..]);
    let error = RouteErrorKind::NodeUnreachable(C);
    let lost = [aodv::Unreachable { destination: B, seq: 9 }, aodv::Unreachable { destination: C, seq: 10 }];
    vec![
        dsr_frame(&[DsrOption::RouteRequest(RouteRequest { id: 513, target: C, addresses })]),
        dsr_frame(&[
            DsrOption::RouteReply(RouteReply { last_hop_external: false, addresses }),
            DsrOption::RouteError(RouteError { salvage: 2, source: A, destination: C, kind: error }),
            DsrOption::Ack { id: 4, source: B, destination: A },
            DsrOption::SourceRoute(SourceRoute {
                first_hop_external: false,
                last_hop_external: true,
                salvage: 3,
                segments_left: 1,
                addresses,
            }),
        ]),
        aodv_frame(&aodv::Message::Rreq(aodv::Rreq {
            join: false,
            repair: false,
            gratuitous: true,
            destination_only: false,
            unknown_seq: true,
            hop_count: 3,
            id: 70_000,
            destination: C,
            destination_seq: 5,
            originator: A,
            originator_seq: 6,
        })),
        aodv_frame(&aodv::Message::Rerr(aodv::Rerr { no_delete: true, unreachable: (&lost[..]).into() })),
    ]
}

#[test]
fn tshark_finds_nothing_wrong_with_our_captures_and_shows_what_we_put_in() {
    let dir = TempDir::new().expect("a directory");
    let bytes = routing_frames();
    let ack = {
        let ack = dot11::Repr::Ack { duration_us: 0, receiver: Mac::from_addr(A) };
        let mut b = vec![0; ack.buffer_len()];
        ack.emit(&mut b);
        b
    };
    let mut frames: Vec<FrameEvent<'_>> =
        bytes.iter().zip(1u64..).map(|(b, i)| sent(i * 1_000_000_007, b)).collect();
    frames.push(FrameEvent {
        direction: Direction::Rx,
        signal_dbm: -71.6,
        noise_dbm: -100.0,
        rate_100kbps: 10,
        channel_mhz: 914,
        ..sent(9_000_000_123, &ack)
    });
    let path = capture(&dir, Outputs::DEFAULT_SNAPLEN, &frames);

    assert_eq!(tshark::complaints(&path).expect("tshark answers"), Vec::<Vec<String>>::new());
    let fields = [
        "frame.time_epoch",
        "frame.interface_name",
        "frame.packet_flags_direction",
        "radiotap.dbm_antsignal",
        "radiotap.dbm_antnoise",
        "radiotap.channel.freq",
        "radiotap.datarate",
        "radiotap.data_retries",
    ];
    let rows = tshark::fields(&path, "", &fields).expect("tshark answers");
    assert_eq!(rows.len(), 5);
    assert_eq!(rows[0], ["1.000000007", "n0", "0x00000002", "", "", "2412", "2", "2"]);
    assert_eq!(rows[4], ["9.000000123", "n0", "0x00000001", "-72", "-100", "914", "1", ""]);
    let empty = dir.path().join("captures/n1.pcapng");
    assert_eq!(tshark::fields(&empty, "", &["frame.number"]).expect("a capture without frames").len(), 0);
}

#[test]
fn our_messages_decode_to_what_tshark_shows() {
    let dir = TempDir::new().expect("a directory");
    let bytes = routing_frames();
    let frames: Vec<_> = bytes.iter().map(|b| sent(5, b)).collect();
    let path = capture(&dir, 400, &frames);
    let ours = decode(&path);
    let of = |kind: &str| -> Vec<&Value> { ours.iter().filter(|v| v["type"] == kind).collect() };
    let theirs = |filter: &str, field: &str| -> Vec<String> {
        let rows = tshark::fields(&path, filter, &[field]).expect("tshark answers");
        rows.into_iter().flatten().filter(|v| !v.is_empty()).map(decimal).collect()
    };
    // Counts by type, as the summary has them.
    assert_eq!(theirs("dsr.option.type == 1 || aodv.type == 1", "frame.number").len(), of("rreq").len());
    assert_eq!(theirs("dsr.option.type == 2 || aodv.type == 2", "frame.number").len(), of("rrep").len());
    assert_eq!(theirs("dsr.option.type == 3 || aodv.type == 3", "frame.number").len(), of("rerr").len());
    assert_eq!((of("rreq").len(), of("rrep").len(), of("rerr").len()), (2, 1, 2));

    let text = |v: &Value, keys: &[&str]| -> Vec<String> {
        keys.iter().map(|k| v[k].as_str().map_or_else(|| v[k].to_string(), str::to_owned)).collect()
    };
    let list = |v: &Value| -> String {
        v["addresses"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|a| a.as_str().expect("text"))
            .collect::<Vec<_>>()
            .join(",")
    };
    let rreq = of("rreq")[0];
    assert_eq!(text(rreq, &["protocol", "src", "dst", "ttl"]), ["dsr", "10.0.0.1", "10.0.0.3", "63"]);
    assert_eq!(theirs("", "dsr.option.rreq.id"), text(rreq, &["id"]));
    assert_eq!(theirs("", "dsr.option.rreq.targetaddress"), text(rreq, &["target"]));
    assert_eq!(theirs("", "dsr.option.rreq.address"), [list(rreq)]);
    assert_eq!(theirs("", "dsr.option.rrep.address"), [list(of("rrep")[0])]);
    let rerr = of("rerr")[0];
    assert_eq!(theirs("", "dsr.option.err.unreachablenode"), text(rerr, &["unreachable"]));
    assert_eq!(theirs("", "dsr.option.err.salvage"), text(rerr, &["salvage"]));
    assert_eq!(theirs("", "dsr.option.err.dest"), text(rerr, &["error_destination"]));
    assert_eq!(theirs("", "dsr.option.ack.source"), text(of("ack")[0], &["ack_source"]));
    let route = of("source_route")[0];
    assert_eq!(theirs("", "dsr.option.srcrt.segsleft"), text(route, &["segments_left"]));
    assert_eq!(list(route), "10.0.0.1,10.0.0.2");
    assert_eq!(route["last_hop_external"], true);
    assert_eq!(ours.iter().map(|v| v["frame"].as_u64().expect("a number")).max(), Some(4));
}

/// What tshark is asked of an AODV message.
pub(crate) const FIELDS: [&str; 26] = [
    "frame.number",
    "wlan.ta",
    "ip.src",
    "ip.dst",
    "ip.ttl",
    "aodv.type",
    "aodv.hopcount",
    "aodv.rreq_id",
    "aodv.dest_ip",
    "aodv.dest_seqno",
    "aodv.orig_ip",
    "aodv.orig_seqno",
    "aodv.lifetime",
    "aodv.unreach_dest_ip",
    "aodv.destcount",
    "aodv.prefix_sz",
    "aodv.flags.rreq_join",
    "aodv.flags.rreq_repair",
    "aodv.flags.rreq_gratuitous",
    "aodv.flags.rreq_destinationonly",
    "aodv.flags.rreq_unknown",
    "aodv.flags.rrep_repair",
    "aodv.flags.rrep_ack",
    "aodv.flags.rerr_nodelete",
    "_ws.malformed",
    "aodv.ext_type",
];

/// A message that we decoded, as tshark shows [`FIELDS`].
pub(crate) fn as_tshark(v: &Value) -> Vec<String> {
    let number = match v["type"].as_str().expect("a type") {
        "rreq" => "1",
        "rrep" | "hello" => "2",
        "rerr" => "3",
        "rrep_ack" => "4",
        other => panic!("{other}"),
    };
    let text = |k: &str| match &v[k] {
        Value::Null => String::new(),
        Value::String(s) => s.clone(),
        other => other.to_string(),
    };
    let lost = |key: &str| -> String {
        let all = v["unreachable"].as_array().map(|l| l.iter().map(|u| u[key].to_string()));
        all.map(|l| l.collect::<Vec<_>>().join(",").replace('"', "")).unwrap_or_default()
    };
    let mut row: Vec<String> = ["frame", "transmitter", "src", "dst", "ttl"].map(text).into();
    row.push(number.to_owned());
    row.extend(
        ["hop_count", "id", "destination", "destination_seq", "originator", "originator_seq", "lifetime_ms"]
            .map(text),
    );
    if number == "3" {
        row[9] = lost("seq");
    }
    row.push(lost("destination"));
    row.push(v["unreachable"].as_array().map(|l| l.len().to_string()).unwrap_or_default());
    row.push(text("prefix_size"));
    let flag = |kind: &str, key: &str| match &v[key] {
        Value::Bool(b) if number == kind => u8::from(*b).to_string(),
        _ => String::new(),
    };
    let flags = [
        ("1", "join"),
        ("1", "repair"),
        ("1", "gratuitous"),
        ("1", "destination_only"),
        ("1", "unknown_seq"),
        ("2", "repair"),
        ("2", "ack_required"),
        ("3", "no_delete"),
    ];
    row.extend(flags.map(|(kind, key)| flag(kind, key)));
    row.extend(["malformed", "extensions"].map(text));
    row
}

#[test]
fn the_captures_of_ns3_decode_to_what_tshark_shows() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../captures/ns3");
    let mut seen = 0;
    for name in ["ns3-bug-606-0", "ns3-chain-0", "ns3-chain-1", "ns3-chain-2"] {
        let path = data.join(name).with_extension("pcap");
        let theirs = tshark::fields(&path, "aodv", &FIELDS).expect("tshark answers");
        let ours: Vec<Vec<String>> = decode(&path).iter().map(as_tshark).collect();
        let theirs: Vec<Vec<String>> = theirs
            .into_iter()
            .map(|mut row| {
                row.resize(FIELDS.len(), String::new());
                row[7] = decimal(std::mem::take(&mut row[7]));
                row
            })
            .collect();
        assert_eq!(ours, theirs, "{name}");
        seen += ours.len();
    }
    assert_eq!(seen, 109, "all AODV frames of the four captures");
}

#[test]
fn a_message_that_was_cut_is_decoded_as_far_as_it_goes() {
    let dir = TempDir::new().expect("a directory");
    let many: Vec<Ipv4Addr> = (1..=40).map(|i| Ipv4Addr::new(10, 0, 1, i)).collect();
    let list = AddrList::from(&many[..]);
    let lost: Vec<aodv::Unreachable> =
        many.iter().map(|a| aodv::Unreachable { destination: *a, seq: 1 }).collect();
    let frames = [
        dsr_frame(&[
            DsrOption::Ack { id: 4, source: B, destination: A },
            DsrOption::RouteReply(RouteReply { last_hop_external: true, addresses: list }),
        ]),
        aodv_frame(&aodv::Message::Rerr(aodv::Rerr { no_delete: false, unreachable: (&lost[..]).into() })),
    ];
    let events: Vec<_> = frames.iter().map(|b| sent(5, b)).collect();
    let path = capture(&dir, 100, &events);
    let out = decode(&path);
    assert_eq!(out.len(), 3);
    assert_eq!((&out[0]["type"], &out[0]["truncated"]), (&"ack".into(), &Value::Null));
    // 100 octets less 24 + 8 + 20 + 4 of headers and 12 of the acknowledgement leave 32: type, length, flags, 7 addresses.
    assert_eq!((&out[1]["type"], &out[1]["truncated"]), (&"rrep".into(), &true.into()));
    let addresses = out[1]["addresses"].as_array().expect("a list");
    assert_eq!((addresses.len(), &addresses[6]), (7, &"10.0.1.7".into()));
    assert_eq!(out[1]["last_hop_external"], true);
    // 100 less 24 + 8 + 20 + 8 + 4 leave 36: 4 destinations.
    assert_eq!((&out[2]["type"], &out[2]["truncated"]), (&"rerr".into(), &true.into()));
    assert_eq!(out[2]["unreachable"].as_array().expect("a list").len(), 4);
    let lengths = tshark::fields(&path, "", &["frame.cap_len", "frame.len"]).expect("tshark answers");
    for (row, frame) in lengths.iter().zip(&frames) {
        let [captured, original] = [0, 1].map(|i| row[i].parse::<usize>().expect("a number"));
        assert_eq!(original - captured, frame.len() - 100);
    }
}

#[test]
fn thousands_of_nodes_need_one_open_file() {
    let dir = TempDir::new().expect("a directory");
    let run = RunDir::create(dir.path(), &manifest(), CLASSIFIER).expect("an empty directory");
    let outputs = Outputs { tables: false, captures: Some(200), ..Outputs::default() };
    // More than the usual limit of 1024 open files.
    let mut r = Recorder::start(run.clone(), &outputs, nodes(3_000)).expect("a recorder");
    let frame = dsr_frame(&[DsrOption::Ack { id: 4, source: B, destination: A }]);
    for round in 0..100 {
        for n in 0..3_000 {
            r.frame(&FrameEvent { node: NodeId(n), ..sent(round, &frame) });
        }
    }
    r.finish(&mut Summary::default(), RunStatus::Complete).expect("room on the disk");
    assert_eq!(decode(&run.capture_path("n2999")).len(), 100);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn the_reader_sees_what_the_writer_wrote(
        frames in proptest::collection::vec(
            (any::<u64>(), proptest::collection::vec(any::<u8>(), 0..90), any::<bool>(), 0u32..50),
            0..20,
        ),
        snaplen in 0u32..100,
    ) {
        let dir = TempDir::new().expect("a directory");
        let events: Vec<_> = frames
            .iter()
            .map(|(t, bytes, tx, beyond)| FrameEvent {
                direction: if *tx { Direction::Tx } else { Direction::Rx },
                original_len: bytes.len() as u32 + beyond,
                signal_dbm: if *tx { f32::NAN } else { -80.0 },
                ..sent(*t, bytes)
            })
            .collect();
        let path = capture(&dir, snaplen, &events);
        let mut reader = CaptureReader::new(File::open(path).expect("the capture")).expect("pcapng");
        let mut read = CapturedFrame::default();
        for (i, e) in events.iter().enumerate() {
            prop_assert!(reader.next_into(&mut read).expect("a whole frame"));
            let kept = &e.bytes[..e.bytes.len().min(snaplen as usize)];
            let tap_len = usize::from(u16::from_le_bytes([read.bytes[2], read.bytes[3]]));
            prop_assert_eq!(&read.bytes[tap_len..], kept);
            prop_assert_eq!(read.original_len - tap_len as u32, e.original_len);
            prop_assert_eq!(read.time_ns, Some(e.time.as_nanos()));
            prop_assert_eq!(read.sent, Some(e.direction == Direction::Tx));
            prop_assert_eq!((read.number, read.link_type), (i as u64 + 1, 127));
        }
        prop_assert!(!reader.next_into(&mut read).expect("the end"));
    }
}
