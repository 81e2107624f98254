//! Reads a log, line by line, with bounded memory.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use serde_json::Value;

use crate::error::LogError;
use crate::header::{FORMAT, Header, VERSION};
use crate::line::{ApplicationLine, Closing, End, InputRecord};

/// The longest line that is read, octets. What one input leads to is far shorter.
const MAX_LINE: usize = 16 << 20;
/// Later than any run ends, and early enough that no sum of times overflows, ns.
const MAX_TIME: u64 = u64::MAX / 4;

/// A log that is being read.
pub struct Reader {
    file: String,
    from: Box<dyn BufRead>,
    line: u64,
    text: Vec<u8>,
    header: Header,
    inputs: u64,
    effects: u64,
    read: u64,
}

/// What a log has next.
#[derive(Debug)]
pub enum LogItem<'a> {
    /// An input of an engine.
    Input(InputRecord<'a>),
    /// An input of an application.
    ApplicationInput(ApplicationLine<'a>),
    /// The end of a whole log.
    End(Closing),
    /// The log is not whole: it breaks off here.
    Cut(String),
}

/// A line of text.
enum Text {
    /// With its end.
    Whole,
    /// The file ends within it, or before it (with this error of the system's).
    Cut(Option<String>),
}

impl Reader {
    /// Opens a file; gzip is recognised by its first octets.
    ///
    /// # Errors
    /// If it cannot be read, or its first line is no header of this version.
    pub fn open(path: &Path) -> Result<Self, LogError> {
        let name = path.display().to_string();
        let wrong = |what: String| LogError { file: name.clone(), line: None, what };
        let cannot = |e: std::io::Error| wrong(format!("cannot read it: {e}"));
        if path.is_dir() {
            return Err(wrong("this is a directory; give the logs in it, such as RUN/inputs/*.jsonl".into()));
        }
        let mut from = BufReader::with_capacity(256 << 10, File::open(path).map_err(cannot)?);
        let is_gzip = from.fill_buf().map_err(cannot)?.starts_with(&[0x1f, 0x8b]);
        if is_gzip {
            Self::new(&name, Box::new(BufReader::new(MultiGzDecoder::new(from))))
        } else {
            Self::new(&name, Box::new(from))
        }
    }

    /// Reads from somewhere else; `file` is its name in messages.
    ///
    /// # Errors
    /// As [`Reader::open`].
    pub fn new(file: &str, from: Box<dyn BufRead>) -> Result<Self, LogError> {
        let mut reader = Self {
            file: file.to_owned(),
            from,
            line: 0,
            text: Vec::new(),
            header: Header::nobody(),
            inputs: 0,
            effects: 0,
            read: 0,
        };
        let end = reader.next_line()?;
        if reader.text.is_empty() {
            return Err(reader.wrong("the file is empty: a log begins with its header".into()));
        }
        reader.header = reader.read_header()?;
        match end {
            Text::Whole => Ok(reader),
            Text::Cut(_) => Err(reader.wrong("the log ends after its header".into())),
        }
    }

    /// The log's first line.
    pub fn header(&self) -> &Header {
        &self.header
    }
    /// The number of the line that was read last.
    pub fn line(&self) -> u64 {
        self.line
    }
    /// The text of that line.
    pub fn text(&self) -> &[u8] {
        &self.text
    }
    /// Octets of text that were read.
    pub fn position(&self) -> u64 {
        self.read
    }
    /// An error about the line that was read last.
    pub fn wrong(&self, what: String) -> LogError {
        LogError { file: self.file.clone(), line: Some(self.line.max(1)), what }
    }

    /// The next input, or the end. After [`LogItem::End`] and [`LogItem::Cut`] there is nothing more.
    ///
    /// # Errors
    /// If the next line is invalid.
    pub fn next_item(&mut self) -> Result<LogItem<'_>, LogError> {
        let end = self.next_line()?;
        if let (true, Text::Cut(why)) = (self.text.is_empty(), &end) {
            // The file ends with a whole line.
            self.line -= 1;
            let why = why.clone().unwrap_or_else(|| "the final line is missing".to_owned());
            return Ok(LogItem::Cut(why));
        }
        if self.text.starts_with(b"{\"end\"") {
            return self.closing(&end);
        }
        if let Text::Cut(why) = end {
            let why = why.map_or_else(String::new, |e| format!(" ({e})"));
            return Ok(LogItem::Cut(format!("line {} is truncated{why}", self.line)));
        }
        self.inputs += 1;
        let (file, number) = (&self.file, self.line);
        let wrong = |what: String| LogError { file: file.clone(), line: Some(number), what };
        let no_line = |e: serde_json::Error| wrong(format!("not a line of a log of inputs: {}", plain(&e)));
        let (item, at, id, effects) = if self.header.application.is_some() {
            let line: ApplicationLine<'_> = serde_json::from_slice(&self.text).map_err(no_line)?;
            let (at, effects) = (line.at, line.out.len());
            (LogItem::ApplicationInput(line), at, 0, effects)
        } else {
            let line: InputRecord<'_> = serde_json::from_slice(&self.text).map_err(no_line)?;
            let (at, id, effects) = (line.at, line.id, line.out.len());
            (LogItem::Input(line), at, id, effects)
        };
        if at.as_nanos() > MAX_TIME || id > MAX_TIME {
            return Err(wrong("its time or packet number is out of range".into()));
        }
        self.effects += effects as u64;
        Ok(item)
    }

    fn closing(&mut self, end: &Text) -> Result<LogItem<'_>, LogError> {
        let Ok(End { end: closing }) = serde_json::from_slice::<End>(&self.text) else {
            if let Text::Cut(_) = end {
                return Ok(LogItem::Cut(format!("line {} is truncated", self.line)));
            }
            return Err(self.wrong("not a final line of a log".into()));
        };
        if (closing.inputs, closing.effects) != (self.inputs, self.effects) {
            return Err(self.wrong(format!(
                "the log should have {} inputs with {} effects, but has {} with {}: it was modified",
                closing.inputs, closing.effects, self.inputs, self.effects
            )));
        }
        match self.next_line()? {
            Text::Cut(_) if self.text.is_empty() => {
                self.line -= 1;
                Ok(LogItem::End(closing))
            }
            _ => {
                Err(self
                    .wrong("the log continues after its final line: are these two logs in one file?".into()))
            }
        }
    }

    fn read_header(&self) -> Result<Header, LogError> {
        let no_log = |why: &str| {
            let remedy = "give a file written by --record-inputs, such as RUN/inputs/NODE.jsonl";
            self.wrong(format!("not a log of inputs: {why}; {remedy}"))
        };
        let value: Value =
            serde_json::from_slice(&self.text).map_err(|_| no_log("its first line is not JSON"))?;
        if value.get("format").and_then(Value::as_str) != Some(FORMAT) {
            return Err(no_log(&format!("its first line does not say \"format\":\"{FORMAT}\"")));
        }
        let version = value.get("version").and_then(Value::as_u64);
        if version != Some(u64::from(VERSION)) {
            let version = version.map_or_else(|| "no version".to_owned(), |v| format!("version {v}"));
            let by = value.get("wayhop").and_then(Value::as_str).map(|by| format!(" {by}"));
            return Err(self.wrong(format!(
                "this log has {version} of the format, but this Wayhop reads version {VERSION}: replay it \
                 with the Wayhop{} that wrote it, or record it again",
                by.unwrap_or_default()
            )));
        }
        serde_json::from_value(value).map_err(|e| self.wrong(format!("the header of the log: {e}")))
    }

    /// Reads the next line into `text`, without its end.
    fn next_line(&mut self) -> Result<Text, LogError> {
        self.text.clear();
        self.line += 1;
        let limit = MAX_LINE as u64;
        let outcome = (&mut self.from).take(limit).read_until(b'\n', &mut self.text);
        self.read += self.text.len() as u64;
        match outcome {
            Ok(_) if self.text.ends_with(b"\n") => {
                self.text.pop();
                Ok(Text::Whole)
            }
            Ok(n) if n == MAX_LINE => {
                Err(self.wrong(format!("the line is longer than {} MiB", MAX_LINE >> 20)))
            }
            Ok(_) => Ok(Text::Cut(None)),
            // gzip that ends within its data.
            Err(e) if e.kind() == ErrorKind::UnexpectedEof => {
                Ok(Text::Cut(Some("the gzip data is truncated".into())))
            }
            Err(e) => Err(self.wrong(format!("cannot read it: {e}"))),
        }
    }
}

/// An error of serde's without the line within the line.
fn plain(e: &serde_json::Error) -> String {
    let text = e.to_string();
    match text.rsplit_once(" at line ") {
        Some((what, place)) => match place.split_once("column ") {
            Some((_, column)) => format!("{what}, at byte {column}"),
            None => what.to_owned(),
        },
        None => text,
    }
}
