//! tshark reads our connections: handshake, options, windows, retransmissions.

use wayhop_testkit::{pcap, tshark};
use wayhop_transport::tcp::{App, TcpConfig, Variant};

use crate::tcp::lab::{End, Lab, at_ms};

/// A file over a path that loses some segments, as one capture of both ends' packets.
fn captured(variant: Variant, window: u32) -> (Lab, tempfile::TempDir) {
    captured_padded(variant, window, 0)
}

/// The same with headers made longer.
fn captured_padded(variant: Variant, window: u32, padding: u8) -> (Lab, tempfile::TempDir) {
    let config = TcpConfig {
        variant,
        window_segments: window,
        padding,
        app: App::Bulk { bytes: Some(150_000) },
        delayed_ack: None,
        ..TcpConfig::rfc()
    };
    let mut n = 0;
    let mut lab = Lab::losing(config, move |s| {
        n += u32::from(s.from == End::Client && s.len > 0);
        s.len > 0 && [20, 22, 24, 60].contains(&n)
    });
    lab.start();
    lab.run_until(at_ms(60_000));
    assert!(lab.end(End::Client).is_done());
    let dir = tempfile::tempdir().expect("there is room for a capture");
    let file = std::fs::File::create(dir.path().join("tcp.pcap")).expect("the capture can be made");
    pcap::write(file, lab.packets.iter().map(|(at, p)| (*at, &p[..]))).expect("the capture can be written");
    (lab, dir)
}

#[test]
fn tshark_follows_every_connection_and_finds_no_fault() {
    for variant in Variant::ALL {
        let (lab, dir) = captured(variant, 32);
        let capture = dir.path().join("tcp.pcap");
        assert_eq!(tshark::complaints(&capture), Ok(vec![]), "{variant:?}");
        // Of all segments at once: tshark takes its time to start.
        let asked = [
            "tcp.checksum.status",
            "tcp.flags.syn",
            "tcp.flags.fin",
            "tcp.analysis.retransmission",
            "tcp.analysis.out_of_order",
            "tcp.analysis.lost_segment",
            "tcp.analysis.ack_lost_segment",
            "tcp.analysis.zero_window",
            "tcp.options.mss_val",
            "tcp.options.sack_perm",
        ];
        let rows = tshark::fields(&capture, "tcp", &asked).expect("tshark");
        let column = |name: &str| asked.iter().position(|f| *f == name).expect("it was asked for");
        let with = |name: &str| rows.iter().filter(|r| !r[column(name)].is_empty()).count();
        // Its versions write flags as numbers or as words.
        let set = |name: &str| rows.iter().filter(|r| ["1", "True"].contains(&&*r[column(name)])).count();
        assert_eq!(rows.len(), lab.packets.len());
        assert_eq!(set("tcp.checksum.status"), rows.len(), "every checksum is good");
        assert_eq!((set("tcp.flags.syn"), set("tcp.flags.fin")), (2, 2));
        // What it calls a retransmission, by any of its names, is what we count as one. (One that comes soon after other
        // segments it takes for reordered, which where it leaves nothing is.)
        let names = ["tcp.analysis.retransmission", "tcp.analysis.out_of_order"].map(column);
        let again = rows.iter().filter(|r| names.iter().any(|&c| !r[c].is_empty())).count();
        let ours = lab.end(End::Client).counts().retransmissions;
        assert_eq!(again as u64, ours, "{variant:?}");
        assert!(ours >= 4);
        // Nothing is missing from the capture, and no window was closed.
        for fault in
            ["tcp.analysis.lost_segment", "tcp.analysis.ack_lost_segment", "tcp.analysis.zero_window"]
        {
            assert_eq!(with(fault), 0, "{variant:?}: {fault}");
        }
        // Its versions write the option's octets with colons or without.
        let syns: Vec<_> = rows
            .iter()
            .filter(|r| ["1", "True"].contains(&&*r[column("tcp.flags.syn")]))
            .map(|r| {
                (&*r[column("tcp.options.mss_val")], r[column("tcp.options.sack_perm")].replace(':', ""))
            })
            .collect();
        let permitted = if variant == Variant::Sack { "0402" } else { "" };
        assert_eq!(syns, vec![("1460", permitted.to_owned()); 2], "{variant:?}");
    }
}

#[test]
fn tshark_reads_the_blocks_of_selective_acknowledgements_as_they_were_meant() {
    let (lab, dir) = captured(Variant::Sack, 32);
    // Relative numbers begin with the SYN, ours with the first octet behind it.
    let rows = tshark::fields(
        &dir.path().join("tcp.pcap"),
        "tcp.options.sack_le",
        &["tcp.ack", "tcp.options.sack_le", "tcp.options.sack_re"],
    )
    .expect("tshark");
    let join = |n: Vec<i64>| n.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
    let ours: Vec<Vec<String>> = lab
        .log
        .iter()
        .filter(|s| !s.sack.is_empty())
        .map(|s| {
            let (left, right) = s.sack.iter().map(|b| (b.0 + 1, b.1 + 1)).unzip();
            vec![(s.ack + 1).to_string(), join(left), join(right)]
        })
        .collect();
    assert!(ours.len() > 5 && ours.iter().any(|r| r[1].contains(',')), "several blocks at once");
    assert_eq!(rows, ours);
}

#[test]
fn tshark_scales_large_windows_to_what_the_receiver_takes() {
    let (_, dir) = captured(Variant::NewReno, 200);
    let rows = tshark::fields(
        &dir.path().join("tcp.pcap"),
        "tcp.flags.syn == 0 && tcp.srcport == 49152",
        &["tcp.window_size"],
    )
    .expect("tshark");
    // 200 segments of 1460 octets, cut to a multiple of eight by the scale of 3.
    assert!(
        !rows.is_empty() && rows.iter().all(|r| r[0] == (292_000 / 8 * 8).to_string()),
        "{:?}",
        rows.first()
    );
}

#[test]
fn tshark_reads_padded_headers_as_twenty_octets_longer() {
    let (_, dir) = captured_padded(Variant::Sack, 32, 20);
    let capture = dir.path().join("tcp.pcap");
    assert_eq!(tshark::complaints(&capture), Ok(vec![]));
    let lengths = |filter: &str| {
        let rows = tshark::fields(&capture, filter, &["tcp.hdr_len"]).expect("tshark");
        rows.into_iter().map(|mut row| row.remove(0)).collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(lengths("tcp.len > 0"), ["40".to_owned()].into());
    // MSS and SACK permitted; blocks of 8 octets behind 4.
    assert_eq!(lengths("tcp.flags.syn == 1"), ["48".to_owned()].into());
    assert_eq!(lengths("tcp.options.sack.count == 1"), ["52".to_owned()].into());
}
