//! Finding a moment of a capture without reading all that is before it.

use std::io::{Read, Seek, SeekFrom};

use super::blocks::{CapturedFrame, Format};
use super::reader::{CaptureError, CaptureReader};

/// Octets of the file from mark to mark.
const STEP: u64 = 1 << 20;
/// Longer captures are refused.
const MOST_OCTETS: u64 = 4 << 30;
const MOST_INTERFACES: usize = 4096;

/// Marks in a capture, at most 4096: a frame of any moment is found by reading a megabyte, however long the file is.
///
/// Frames are taken to be in order of time, as captures are; of others some may not be found.
pub struct CaptureIndex {
    format: Format,
    marks: Vec<Mark>,
}

#[derive(Copy, Clone, Debug)]
struct Mark {
    /// The latest moment before it.
    time_ns: u64,
    offset: u64,
    frames: u64,
}

impl CaptureIndex {
    /// Reads the whole capture once. What is behind damage, as at the end of a file that was cut off, is left out.
    ///
    /// # Errors
    /// If it is no capture, is longer than 4 GiB, or has more than one section.
    pub fn read(input: impl Read) -> Result<Self, CaptureError> {
        Self::with_step(input, STEP)
    }

    pub(super) fn with_step(input: impl Read, step: u64) -> Result<Self, CaptureError> {
        let mut reader = CaptureReader::new(input)?;
        let mut last = Mark { time_ns: 0, offset: reader.offset(), frames: 0 };
        let mut marks = vec![last];
        let mut frame = CapturedFrame::default();
        loop {
            match reader.next_into(&mut frame) {
                Ok(true) => {}
                Ok(false) | Err(CaptureError::Format { .. }) => break,
                Err(e) => return Err(e),
            }
            if reader.section > 0 {
                return Err(reader.wrong("a second section; combine them first (mergecap)"));
            }
            if reader.offset() > MOST_OCTETS {
                return Err(reader.wrong("longer than 4 GiB; split it first (editcap)"));
            }
            last.time_ns = last.time_ns.max(frame.time_ns.unwrap_or(0));
            if reader.offset() - last.offset >= step {
                last = Mark { offset: reader.offset(), frames: reader.frames, ..last };
                marks.push(last);
            }
        }
        let end = reader.wrong("more than 4096 interfaces");
        let format = reader.format;
        if matches!(&format, Format::Pcapng { interfaces, .. } if interfaces.len() > MOST_INTERFACES) {
            return Err(end);
        }
        Ok(Self { format, marks })
    }

    /// A reader of the capture that begins with the frame at `from_ns`, or not long before.
    ///
    /// # Errors
    /// If the file cannot be read there.
    pub fn reader<R: Read + Seek>(
        &self,
        mut input: R,
        from_ns: u64,
    ) -> Result<CaptureReader<R>, CaptureError> {
        let mark = self.mark(from_ns);
        input.seek(SeekFrom::Start(mark.offset)).map_err(CaptureError::Io)?;
        Ok(CaptureReader::resumed(input, self.format.clone(), mark.offset, mark.frames))
    }

    /// Where [`CaptureIndex::reader`] begins to read for a moment.
    pub fn offset(&self, from_ns: u64) -> u64 {
        self.mark(from_ns).offset
    }

    fn mark(&self, from_ns: u64) -> Mark {
        let before = self.marks.partition_point(|m| m.time_ns < from_ns);
        self.marks[before.saturating_sub(1)]
    }
}
