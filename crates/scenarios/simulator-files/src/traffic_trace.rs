//! Files with the times and sizes of packets.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_core::Span;
use wayhop_document::{Error, LineColumn, Result, decode, read_bytes};
use wayhop_transport::{MAX_PAYLOAD, Schedule, Scheduled};

use crate::{MAX_DURATION_S, MAX_TRACE_PACKETS};

/// The first line of a file in CSV.
const HEADER: &str = "time_s,octets";
const RECORD: usize = 8;

/// The format of a traffic trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TraceFormat {
    /// Text, plain or gzip: the header `time_s,octets`, then one packet per line in order of time, such as `0.25,512`:
    /// seconds after `start_s`, and bytes of UDP payload. Empty lines and text after a `#` are skipped.
    #[default]
    Csv,
    /// ns-2's `Application/Traffic/Trace`: two 32-bit numbers for each packet, most significant byte first:
    /// microseconds since the previous packet, and bytes of UDP payload.
    Ns2,
}

impl TraceFormat {
    /// The packets of a file; more than `most` are refused. An error says what is wrong, and where.
    pub fn read(self, path: &Path, most: usize) -> Result<Schedule> {
        self.parse(read_bytes(path)?, most).map_err(|e| e.in_file(path))
    }

    /// The packets in the octets of a file; more than `most` are refused. An error says what is wrong, and where.
    pub fn parse(self, bytes: Vec<u8>, most: usize) -> Result<Schedule> {
        match self {
            Self::Csv => csv(&decode(bytes)?, most),
            Self::Ns2 => ns2(&bytes, most),
        }
    }
}

fn csv(text: &str, most: usize) -> Result<Schedule> {
    let mut out = Schedule::default();
    let mut has_header = false;
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split_once('#').map_or(line, |(before, _)| before).trim();
        if line.is_empty() {
            continue;
        }
        let at = |e: Error| e.at(LineColumn { line: number, column: 1 });
        if !has_header {
            has_header = true;
            if line.split(',').map(str::trim).ne(HEADER.split(',')) {
                let reason = format!("begins with {}, which is not a header", shown(line));
                return Err(at(Error::new(reason, format!("begin with the line {HEADER}"))));
            }
            continue;
        }
        let packet = packet(line).map_err(at)?;
        add(&mut out, packet, most).map_err(at)?;
    }
    if out.packets().is_empty() {
        return Err(Error::new("has no packets", format!("write {HEADER} and one packet per line")));
    }
    Ok(out)
}

fn packet(line: &str) -> Result<Scheduled> {
    let fields = line.split_once(',').filter(|(_, octets)| !octets.contains(','));
    let Some((time, octets)) = fields else {
        let remedy = "write seconds, a comma and bytes, such as 0.25,512";
        return Err(Error::new(format!("{} is not a time and a size", shown(line)), remedy));
    };
    let seconds: f64 = time.trim().parse().unwrap_or(f64::NAN);
    if !(0.0..=MAX_DURATION_S).contains(&seconds) {
        let reason = format!("{} is not a time from 0 to {MAX_DURATION_S} s", shown(time.trim()));
        return Err(Error::new(reason, "write seconds as a decimal number").key("time_s"));
    }
    let octets = octets.trim();
    let Some(payload_bytes) = octets.parse().ok().filter(|n| (1..=MAX_PAYLOAD).contains(n)) else {
        let reason = format!("{} is not a whole number from 1 to {MAX_PAYLOAD}", shown(octets));
        return Err(Error::new(reason, "write the bytes of UDP payload").key("octets"));
    };
    Ok(Scheduled { after: Span::from_secs_f64(seconds), payload_bytes })
}

fn ns2(bytes: &[u8], most: usize) -> Result<Schedule> {
    if bytes.is_empty() || !bytes.len().is_multiple_of(RECORD) {
        let reason = format!("has {} bytes, which is not a multiple of {RECORD}", bytes.len());
        return Err(Error::new(reason, "check that it is a complete ns-2 trace (format = \"ns2\")"));
    }
    let mut out = Schedule::default();
    let mut after = Span::ZERO;
    for (number, record) in bytes.chunks_exact(RECORD).enumerate() {
        let word = |at: usize| record[at..].first_chunk().map_or(0, |b| u32::from_be_bytes(*b));
        after += Span::from_micros(u64::from(word(0)));
        let payload_bytes = word(4);
        if !(1..=MAX_PAYLOAD).contains(&payload_bytes) {
            return Err(Error::new(
                format!("packet {number} (from 0) has {payload_bytes} bytes; 1 to {MAX_PAYLOAD} are allowed"),
                "check that it is an ns-2 trace (format = \"ns2\")",
            ));
        }
        add(&mut out, Scheduled { after, payload_bytes }, most)?;
    }
    Ok(out)
}

fn add(out: &mut Schedule, packet: Scheduled, most: usize) -> Result<()> {
    if out.packets().len() >= most {
        let reason = format!("the scenario's traces have more than {MAX_TRACE_PACKETS} packets");
        return Err(Error::new(reason, "make them shorter"));
    }
    if out.push(packet) {
        return Ok(());
    }
    let reason = format!("{} s is before the previous packet", packet.after.as_secs_f64());
    Err(Error::new(reason, "sort the lines by time"))
}

/// The beginning of a hostile text.
fn shown(text: &str) -> String {
    let head: String = text.chars().take(40).collect();
    format!("{head:?}")
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use proptest::prelude::*;

    use super::*;

    fn csv_error(text: &str) -> String {
        TraceFormat::Csv.parse(text.into(), 10).unwrap_err().to_string()
    }

    fn packets(schedule: &Schedule) -> Vec<(u64, u32)> {
        schedule.packets().iter().map(|p| (p.after.as_nanos(), p.payload_bytes)).collect()
    }

    #[test]
    fn csv_has_a_header_comments_and_a_packet_a_line() {
        let text = "# a call\n time_s , octets \r\n0,1\n\n0.25,512 # longest\n0.25 , 65507\n";
        let read = TraceFormat::Csv.parse(text.into(), 10).unwrap();
        assert_eq!(packets(&read), [(0, 1), (250_000_000, 512), (250_000_000, 65_507)]);
    }

    #[test]
    fn ns2s_records_are_microseconds_since_the_last_and_octets_most_significant_first() {
        // tools of ns-2 write 0x000f4240 for a second: 1,000,000 us.
        let bytes = [0, 0, 0, 0, 0, 0, 0, 210, 0, 0x0f, 0x42, 0x40, 0, 0, 2, 0, 0, 0, 0, 1, 0, 0, 0, 1];
        let read = TraceFormat::Ns2.parse(bytes.to_vec(), 10).unwrap();
        assert_eq!(packets(&read), [(0, 210), (1_000_000_000, 512), (1_000_001_000, 1)]);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line_and_the_remedy() {
        for text in ["", "time_s,octets\n"] {
            assert_eq!(csv_error(text), "has no packets; write time_s,octets and one packet per line");
        }
        let head = "begins with \"0,64\", which is not a header; begin with the line time_s,octets";
        assert_eq!(csv_error("0,64\n"), format!("line 1, column 1: {head}"));
        let pair = "is not a time and a size; write seconds, a comma and bytes, such as 0.25,512";
        let time = "is not a time from 0 to 31622400 s; write seconds as a decimal number";
        let size = "is not a whole number from 1 to 65507; write the bytes of UDP payload";
        for (lines, number, message) in [
            ("1\n", 2, format!("\"1\" {pair}")),
            ("1,2,3\n", 2, format!("\"1,2,3\" {pair}")),
            ("\n-1,64\n", 3, format!("time_s: \"-1\" {time}")),
            ("nan,64\n", 2, format!("time_s: \"nan\" {time}")),
            ("0,0\n", 2, format!("octets: \"0\" {size}")),
            ("2,64\n1,64\n", 3, "1 s is before the previous packet; sort the lines by time".to_owned()),
        ] {
            let said = csv_error(&format!("{HEADER}\n{lines}"));
            assert_eq!(said, format!("line {number}, column 1: {message}"));
        }
        let many = format!("{HEADER}\n{}", "0,1\n".repeat(11));
        assert!(csv_error(&many).starts_with("line 12, column 1: the scenario's traces have more than"));
        let ns2_error = |bytes: &[u8]| TraceFormat::Ns2.parse(bytes.to_vec(), 1).unwrap_err().to_string();
        assert!(ns2_error(&[0; 7]).starts_with("has 7 bytes, which is not a multiple of 8"));
        assert!(ns2_error(&[0; 8]).starts_with("packet 0 (from 0) has 0 bytes"));
        assert!(ns2_error(&[0, 0, 0, 0, 0, 0, 0, 1].repeat(2)).contains("more than"));
    }

    proptest! {
        #[test]
        fn whatever_is_read_is_in_order_and_fits_into_packets(bytes in any::<Vec<u8>>(), is_csv in any::<bool>()) {
            let format = if is_csv { TraceFormat::Csv } else { TraceFormat::Ns2 };
            if let Ok(read) = format.parse(bytes, 5) {
                prop_assert!((1..=5).contains(&read.packets().len()));
                prop_assert!(read.packets().is_sorted_by_key(|p| p.after));
                prop_assert!(read.packets().iter().all(|p| (1..=MAX_PAYLOAD).contains(&p.payload_bytes)));
            }
        }

        #[test]
        fn what_is_written_is_read(packets in prop::collection::vec((0u32..5_000_000, 1..=MAX_PAYLOAD), 1..20)) {
            let (mut text, mut bytes, mut at) = (format!("{HEADER}\n"), Vec::new(), 0u64);
            let mut expected = Vec::new();
            for (wait, octets) in &packets {
                at += u64::from(*wait);
                _ = writeln!(text, "{}.{:06},{octets}", at / 1_000_000, at % 1_000_000);
                bytes.extend(wait.to_be_bytes());
                bytes.extend(octets.to_be_bytes());
                expected.push((at * 1_000, *octets));
            }
            let of = |format: TraceFormat, bytes| super::tests::packets(&format.parse(bytes, 100).unwrap());
            prop_assert_eq!(of(TraceFormat::Csv, text.into()), expected.clone());
            prop_assert_eq!(of(TraceFormat::Ns2, bytes), expected);
        }
    }
}
