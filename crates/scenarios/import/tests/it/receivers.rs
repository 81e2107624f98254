//! Logs of GPS receivers, as they and the programs that keep them write them.

use wayhop_import::{Heights, nmea};

use crate::{Outcome, expected, outcome};

/// A sentence with its checksum: the exclusive or of the octets between $ and *.
fn sentence(content: &str) -> String {
    format!("${content}*{:02X}", content.bytes().fold(0, |sum, octet| sum ^ octet))
}

/// Ten fixes from 08:15:00 on, a hundredth of a minute of latitude apart: 18.542 m (WGS 84: 111,252 m a degree at 51.2 degrees).
fn rmc(talker: &str, i: u32) -> String {
    sentence(&format!("{talker}RMC,0815{i:02}.00,A,5112.{i:02}00,N,00930.0000,E,1.2,0.0,070324,,,A"))
}

fn gga(time: &str, i: u32, height_m: u32) -> String {
    sentence(&format!("GPGGA,{time},5112.{i:02}00,N,00930.0000,E,1,08,0.9,{height_m}.0,M,47.0,M,,"))
}

fn log(line: impl Fn(u32) -> String) -> String {
    (0..10).map(|i| line(i) + "\n").collect()
}

/// What all of these logs say.
fn drive(skipped: &[&str]) -> Outcome {
    expected("log", 9.0, &[[0, 167, 0]], skipped)
}

#[test]
fn logs_of_many_receivers_and_programs() {
    let bare = |text: String| {
        text.lines().map(|l| l.split('*').next().unwrap_or(l).to_owned() + "\n").collect::<String>()
    };
    let cases: Vec<(&str, String, Outcome)> = vec![
        ("AMOD: a line of its own first", format!("$ADVER,3080,2.2\n{}", log(|i| rmc("GP", i))), drive(&[])),
        (
            "Trimble: $PTNL beside each",
            log(|i| {
                rmc("GP", i)
                    + "\n"
                    + &sentence("PTNL,GGK,081500.00,030724,5112.0,N,930.0,E,3,08,1.2,EHT100.0,M")
            }),
            drive(&[]),
        ),
        (
            "u-blox: $PUBX, GSV and texts of all constellations",
            log(|i| {
                sentence("PUBX,00,081500.00,5112.0,N,00930.0,E")
                    + "\n"
                    + &sentence("GLGSV,1,1,00")
                    + "\n"
                    + &rmc("GN", i)
                    + "\n"
                    + &sentence("GNTXT,01,01,02,ANTSTATUS=OK")
            }),
            drive(&[]),
        ),
        ("a drone's GGA alone", log(|i| gga(&format!("0815{i:02}.00"), i, 100)), drive(&[])),
        ("without checksums", bare(log(|i| rmc("GP", i))), drive(&[])),
        (
            "Android's GnssLogger",
            format!(
                "# Header\n{}",
                log(|i| format!("NMEA,{},{}", rmc("GP", i), 1_709_799_300_000_u64 + u64::from(i)))
            ),
            drive(&[]),
        ),
        ("SignalK: tag blocks", log(|i| format!("\\s:rx1,c:1709799300*00\\{}", rmc("GP", i))), drive(&[])),
        (
            "minicom with a time before each line",
            log(|i| format!("2024-03-07 08:15:{i:02}.120 {}", rmc("GP", i))),
            drive(&[]),
        ),
        (
            "gpspipe -r of gpsd",
            format!("{{\"class\":\"VERSION\",\"release\":\"3.25\"}}\n{}", log(|i| rmc("GN", i))),
            drive(&["1 line without a sentence of NMEA 0183 (line 1)"]),
        ),
        (
            "BeiDou with AIS of a ship",
            log(|i| rmc("BD", i) + "\n!AIVDM,1,1,,A,13u?etPv2;0n:dDPwUM1U1Cb069D,0*24"),
            drive(&[]),
        ),
        (
            "a line that a bad cable damaged",
            log(|i| rmc("GP", i)).replacen("5112.04", "5112.94", 1),
            drive(&["1 sentence with a wrong checksum (line 5)"]),
        ),
        (
            "a line without its checksum among others",
            log(|i| if i == 4 { bare(rmc("GP", 4)).trim().to_owned() } else { rmc("GP", i) }),
            drive(&["1 sentence without a checksum, where others have one (line 5)"]),
        ),
        (
            "a battery that went empty",
            format!("{}$GPRMC,081510.00,A,5112.1000,N,009", log(|i| rmc("GP", i))),
            drive(&["1 sentence that is cut off at the end of the file (line 11)"]),
        ),
        (
            "GGA before each RMC, with heights",
            log(|i| gga(&format!("0815{i:02}.00"), i, 100 + 2 * i) + "\n" + &rmc("GP", i)),
            expected("log", 9.0, &[[0, 167, 18]], &[]),
        ),
    ];
    for (name, text, wanted) in cases {
        let made = nmea(&[("dir/log.nmea".as_ref(), &text)], Heights::Read)
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(outcome(&made), wanted, "{name}");
    }
}

#[test]
fn midnight_is_known_by_times_that_go_back() {
    let times = ["235958.00", "235959.00", "000000.00", "000001.00"];
    let text: String = times.iter().zip(0..).map(|(t, i)| gga(t, i, 100) + "\n").collect();
    let made = nmea(&[("log".as_ref(), &text)], Heights::Read).unwrap();
    assert_eq!(outcome(&made), expected("log", 3.0, &[[0, 56, 0]], &[]));
    assert!(made.remarks.iter().any(|r| r.starts_with("no sentence has a date")), "{:?}", made.remarks);
    // With a date behind midnight the ones before get theirs: a second log on the clock of this one shows it.
    let dated = format!("{text}{}\n", sentence("GPRMC,000002.00,A,5112.0400,N,00930.0000,E,,,080324,,"));
    let other = sentence("GPRMC,235950.00,A,5112.0000,N,00930.0000,E,,,070324,,");
    let made = nmea(&[("a".as_ref(), &dated), ("b".as_ref(), &other)], Heights::LeaveOut).unwrap();
    assert_eq!(outcome(&made), expected("a b", 12.0, &[[0, 74, 0], [0, 0, 0]], &[]));
    let e = nmea(&[("a".as_ref(), &text), ("b".as_ref(), &other)], Heights::Read).unwrap_err().to_string();
    assert!(e.contains("has no dates, but other files do"), "{e}");
}

#[test]
fn a_file_without_a_fix_is_refused_with_all_reasons() {
    let said = |text: &str| nmea(&[("a.gpx".as_ref(), text)], Heights::Read).unwrap_err().to_string();
    let e = said("<?xml version=\"1.0\"?>\n<gpx/>\n");
    assert_eq!(
        e,
        "a.gpx: contains no position fix: 2 lines without a sentence of NMEA 0183 (lines 1 and 2); use a GPS receiver's log with the \
         sentences RMC, GGA, GNS or GLL"
    );
    let void = sentence("GPRMC,081500.00,V,,,,,,,070324,,,N");
    assert!(said(&void).contains("no position fix: 1 sentence reports none"), "{}", said(&void));
    let first = format!("{void}\n{}\n", rmc("GP", 1));
    let e = nmea(&[("a".as_ref(), &first), ("b".as_ref(), "$GPTXT,1*00\n")], Heights::Read).unwrap_err();
    assert_eq!(e.reason, "contains no position fix", "that of the first file is not counted");
}
