//! Logs of GPS receivers (NMEA 0183): each file is a node. The sentences are read by the `nmea` crate.

use std::path::Path;

use nmea::sentences::RmcData;
use nmea::sentences::rmc::RmcStatusOfFix;
use nmea::{ParseResult, SentenceType};

use crate::error::{Error, shown};
use crate::gpx::one_file;
use crate::tracks::{Clock, Fix, MOST_POINTS, geodetic, scenario, to_metres};
use crate::{Imported, Named, counted, stem};

/// A scenario of the tracks in logs of receivers: the sentences RMC, which alone have a date. Sentences without a fix and of other types
/// are left out with a remark; heights are left out.
///
/// # Errors
/// If a line is no sentence, or its checksum is wrong, but for the last line of a log that broke off.
pub fn nmea(files: &[Named<'_>]) -> Result<Imported, Error> {
    let mut named = Vec::new();
    let mut left_out = LeftOut::default();
    for (path, text) in files {
        let fixes = fixes(text, &mut left_out).map_err(|e| e.in_file(*path))?;
        named.push((stem(path), some(fixes, path)?));
    }
    let (tracks, origin) = to_metres(named, Clock::Utc).map_err(|e| one_file(e, files))?;
    let mut imported = scenario(tracks, Some(origin)).map_err(|e| one_file(e, files))?;
    let all = [
        (left_out.without_fix, "sentence without a fix is left out", "sentences without a fix are left out"),
        (
            left_out.others,
            "sentence of another type than RMC is left out",
            "sentences of other types than RMC are left out",
        ),
    ];
    let those = all.into_iter().filter(|(count, ..)| *count > 0);
    imported.remarks.extend(those.map(|(count, one, several)| counted(count, one, several)));
    Ok(imported)
}

/// How many sentences are left out.
#[derive(Default)]
struct LeftOut {
    without_fix: usize,
    others: usize,
}

fn some(fixes: Vec<Fix>, path: &Path) -> Result<Vec<Fix>, Error> {
    if fixes.is_empty() {
        let remedy = "give a log with sentences RMC, which have date, time and place";
        return Err(Error::new("there is no fix in it", remedy).in_file(path));
    }
    Ok(fixes)
}

fn fixes(text: &str, left_out: &mut LeftOut) -> Result<Vec<Fix>, Error> {
    let mut all: Vec<Fix> = Vec::new();
    let lines: Vec<&str> = text.lines().collect();
    for (i, line) in lines.iter().enumerate() {
        let (line_number, sentence) = (i as u32 + 1, line.trim());
        if sentence.is_empty() || sentence.starts_with('#') {
            continue;
        }
        // Of another type than RMC only the form counts: receivers have sentences of their own.
        let read = nmea::parse_nmea_sentence(sentence).and_then(|s| {
            if s.calc_checksum() != s.checksum {
                return Err(nmea::Error::ChecksumMismatch {
                    calculated: s.calc_checksum(),
                    found: s.checksum,
                });
            }
            if s.message_id == SentenceType::RMC { nmea::parse_str(sentence).map(Some) } else { Ok(None) }
        });
        match read {
            Ok(Some(ParseResult::RMC(rmc))) => match fix(&rmc, line_number) {
                Some(fix) if all.last().is_some_and(|last| last.at_s == fix.at_s) => {}
                Some(fix) => all.push(fix),
                None => left_out.without_fix += 1,
            },
            Ok(_) => left_out.others += 1,
            Err(_) if i + 1 == lines.len() && !text.ends_with('\n') => {}
            Err(e) => return Err(wrong(sentence, &e).at(line_number)),
        }
        if all.len() > MOST_POINTS {
            return Err(
                Error::new(format!("more than {MOST_POINTS} fixes"), "thin the log out").at(line_number)
            );
        }
    }
    Ok(all)
}

/// What is wrong with a line.
fn wrong(sentence: &str, why: &nmea::Error<'_>) -> Error {
    let said = shown(sentence);
    match why {
        nmea::Error::ChecksumMismatch { calculated, found } => Error::new(
            format!("{said} has the checksum {found:02X}, and its octets have {calculated:02X}"),
            "take the line out: it was damaged",
        ),
        nmea::Error::SentenceLength(octets) => {
            Error::new(format!("{said} is too long for a sentence: {octets} octets"), "take the line out")
        }
        _ => Error::new(
            format!("{said} is no sentence of NMEA 0183, or one with a wrong field"),
            "take the line out, or give the log of a GPS receiver: its lines begin with $",
        ),
    }
}

/// The fix of a sentence; `None` if there is none.
fn fix(rmc: &RmcData, line: u32) -> Option<Fix> {
    if rmc.status_of_fix == RmcStatusOfFix::Invalid {
        return None;
    }
    let at = rmc.fix_date?.and_time(rmc.fix_time?).and_utc();
    let at_s = at.timestamp() as f64 + f64::from(at.timestamp_subsec_millis()) / 1e3;
    Some(Fix { at_s, place: geodetic(rmc.lat?, rmc.lon?)?, line })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Written by hand; the checksums are the exclusive or of the octets between $ and *.
    const DRIVE: &str = include_str!("../tests/data/drive.nmea");

    #[test]
    fn a_drive_is_a_node_that_moves() {
        let i = nmea(&[("drive.nmea".as_ref(), DRIVE)]).unwrap();
        assert_eq!(i.table["duration_s"].as_float(), Some(20.0));
        let track = &i.table["movement"]["tracks"][0];
        // A minute of latitude at 40.4 degrees is 1850.7 m (WGS 84): a tenth of it in ten seconds.
        let speed = track["waypoints"][0]["speed_mps"].as_float().unwrap();
        assert!((speed - 18.507).abs() < 0.01, "{speed}");
        assert_eq!(
            i.remarks,
            ["1 sentence without a fix is left out", "1 sentence of another type than RMC is left out",]
        );
    }

    #[test]
    fn a_wrong_checksum_is_told_by_its_line_and_half_a_last_line_is_not() {
        let wrong = DRIVE.replacen("040.", "041.", 1);
        let said = nmea(&[("d.nmea".as_ref(), &wrong)]).unwrap_err().to_string();
        // One bit of an octet has changed, the lowest: 46 becomes 47, in hexadecimal digits as NMEA 0183 has them.
        assert!(
            said.starts_with("d.nmea:2: \"$GPRMC,")
                && said.contains("the checksum 46, and its octets have 47;"),
            "{said}"
        );
        let cut = &DRIVE[..DRIVE.len() - 20];
        assert!(nmea(&[("d.nmea".as_ref(), cut)]).is_ok());
    }

    #[test]
    fn what_is_no_log_is_told_in_plain_words() {
        let said = nmea(&[("a.gpx".as_ref(), "<?xml version=\"1.0\"?>\n<gpx/>\n")]).unwrap_err().to_string();
        assert!(
            said.starts_with("a.gpx:1: \"<?xml version=\\\"1.0\\\"?>\" is no sentence of NMEA 0183"),
            "{said}"
        );
        assert!(!said.contains("Error") && !said.contains("Char"), "{said}");
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(\\$GPRMC,[0-9A-Z,.]{0,60}\\*[0-9A-F]{2}\n|\\PC{0,20}\n?){0,4}") {
            let _ = nmea(&[("d".as_ref(), &text)]);
        }
    }
}
