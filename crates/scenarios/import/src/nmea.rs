//! Logs of GPS receivers (NMEA 0183): each file is a node.

use std::path::Path;

use wayhop_document::{Error, Result};

use crate::globe::{Fix, Heights, NodeFixes, to_metres};
use crate::nmea_sentence::{SentenceData, SentenceType, Wrong, sentences};
use crate::notes::Notes;
use crate::tracks::scenario;
use crate::{ImportedScenario, NamedText, stem};

/// What heights in the sentences GGA and GNS count from.
const DATUM: &str = "mean sea level";
const DAY_S: f64 = 86_400.0;
const CHECKSUM: [&str; 2] = ["sentence with a wrong checksum", "sentences with a wrong checksum"];
const FIELD: [&str; 2] = ["sentence with a damaged field", "sentences with a damaged field"];
const NO_CHECKSUM: [&str; 2] = [
    "sentence without a checksum, where others have one",
    "sentences without a checksum, where others have one",
];
const NO_SENTENCE: [&str; 2] =
    ["line without a sentence of NMEA 0183", "lines without a sentence of NMEA 0183"];
const CUT_OFF: [&str; 2] =
    ["sentence that is cut off at the end of the file", "sentences that are cut off at the end of the file"];

/// A scenario from the tracks in logs of receivers, from the sentences RMC, GGA, GNS and GLL of any satellite system.
/// Text before a sentence in its line, such as a time or a tag block, and text after its checksum is ignored. Damaged
/// sentences are skipped. Fails if a file has no fix.
pub fn nmea(files: &[NamedText<'_>], heights: Heights) -> Result<ImportedScenario> {
    let mut found = Vec::new();
    let mut notes = Notes::of(files.iter().map(|(path, _)| *path));
    let mut ignored = IgnoredCounts::default();
    let mut undated = Vec::new();
    for (file, (path, text)) in files.iter().enumerate() {
        let mut log = Log { file, ..Log::default() };
        let before = ignored.without_fix;
        log.read(text, &mut notes, &mut ignored).map_err(|e| e.in_file(path))?;
        if log.fixes.is_empty() {
            let remedy = "use a GPS receiver's log with the sentences RMC, GGA, GNS or GLL";
            return Err(no_fix(file, path, &notes, ignored.without_fix - before, remedy));
        }
        if log.date.is_none() {
            undated.push(stem(path));
        }
        found.push(NodeFixes { name: stem(path), file, fixes: log.fixes });
    }
    if !undated.is_empty() && undated.len() < files.len() {
        let what = format!("{} has no dates, but other files do", undated[0]);
        return Err(Error::new(what, "import files with and without dates (RMC, ZDA) separately"));
    }
    let (tracks, origin) = to_metres(found, heights, DATUM, &mut notes)?;
    if !undated.is_empty() {
        notes.remarks.push("no sentence has a date: times count from midnight of one day".to_owned());
    }
    notes.ignored(ignored.without_fix, ["sentence without a fix", "sentences without a fix"]);
    notes.ignored(ignored.others, ["sentence of another type", "sentences of other types"]);
    scenario(tracks, origin, None, notes)
}

fn no_fix(file: usize, path: &Path, notes: &Notes, without_fix: usize, remedy: &str) -> Error {
    let mut all: Vec<String> = notes.skipped[file].kinds().collect();
    match without_fix {
        0 => {}
        1 => all.push("1 sentence reports none".to_owned()),
        _ => all.push(format!("{without_fix} sentences report none")),
    }
    let more = if all.is_empty() { String::new() } else { format!(": {}", all.join(", ")) };
    Error::new(format!("contains no position fix{more}"), remedy).in_file(path)
}

/// What a scenario has no use for.
#[derive(Default)]
struct IgnoredCounts {
    without_fix: usize,
    others: usize,
}

/// What was read of a log so far.
#[derive(Default)]
struct Log {
    file: usize,
    fixes: Vec<Fix>,
    /// The day of the last sentence, seconds since 1970 at its midnight; until a date is known, seconds since the first day's.
    day_s: f64,
    /// The first date that was known, seconds since 1970.
    date: Option<f64>,
    /// Seconds of the day in the last sentence.
    last_s: Option<f64>,
}

impl Log {
    fn read(&mut self, text: &str, notes: &mut Notes, ignored: &mut IgnoredCounts) -> Result<()> {
        let has_checksums = text.lines().any(|line| sentences(line).any(|s| s.checksum_fits == Some(true)));
        let count = text.lines().count();
        for (line, content) in (1..).zip(text.lines()) {
            let is_cut = line as usize == count && !text.ends_with('\n');
            let content = content.trim();
            if content.is_empty() || content.starts_with('#') {
                continue;
            }
            let mut any = false;
            for s in sentences(content) {
                any = true;
                let skipped = &mut notes.skipped[self.file];
                let kind = s.kind();
                if kind == SentenceType::Other {
                    ignored.others += 1;
                    continue;
                }
                let wrong = match s.checksum_fits {
                    Some(true) => None,
                    // Half a number is a number, too: a place elsewhere.
                    _ if is_cut => Some(CUT_OFF),
                    Some(false) => Some(CHECKSUM),
                    None => has_checksums.then_some(NO_CHECKSUM),
                };
                if let Some(wrong) = wrong {
                    skipped.add(line, wrong);
                    continue;
                }
                match s.read(kind) {
                    Ok(said) => {
                        notes.count_point(line)?;
                        self.add(said, line);
                    }
                    Err(Wrong::NoFix) => ignored.without_fix += 1,
                    Err(Wrong::Field) => skipped.add(line, FIELD),
                }
            }
            if !any {
                notes.skipped[self.file].add(line, NO_SENTENCE);
            }
        }
        Ok(())
    }

    fn add(&mut self, said: SentenceData, line: u32) {
        if let Some(date_s) = said.date_s {
            if self.date.is_none() {
                self.date = Some(date_s);
                // What came before had no date: its last day is this one, unless midnight was between.
                let is_next_day =
                    self.last_s.zip(said.time_s).is_some_and(|(last, now)| now < last - DAY_S / 2.0);
                let shift_s = date_s - self.day_s - if is_next_day { DAY_S } else { 0.0 };
                self.fixes.iter_mut().for_each(|f| f.at_s += shift_s);
            }
            self.day_s = date_s;
        } else if let (Some(last), Some(now)) = (self.last_s, said.time_s)
            && now < last - DAY_S / 2.0
        {
            self.day_s += DAY_S;
        }
        let Some(time_s) = said.time_s else { return };
        self.last_s = Some(time_s);
        let Some(place) = said.place else { return };
        let at_s = self.day_s + time_s;
        // Several sentences describe one fix, each in its way.
        match self.fixes.last_mut().filter(|last| last.at_s == at_s) {
            Some(last) => last.height_m = last.height_m.or(said.height_m),
            None => self.fixes.push(Fix { at_s, place, height_m: said.height_m, line }),
        }
    }
}
