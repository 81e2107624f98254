//! A log file that neither grows without bound nor blocks its owner.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Lines appended to a file; a file that is full is renamed to FILE.1, that to FILE.2, and so on.
#[derive(Debug)]
pub struct LogFile {
    path: PathBuf,
    max_bytes: u64,
    keep: u32,
    open: Option<OpenLog>,
    is_torn: bool,
}

#[derive(Debug)]
struct OpenLog {
    file: File,
    bytes: u64,
}

impl LogFile {
    /// At this path, in files of at most `max_bytes` bytes; `keep` old ones stay. Opened at the first line.
    pub fn new(path: &Path, max_bytes: u64, keep: u32) -> Self {
        Self { path: path.to_owned(), max_bytes, keep, open: None, is_torn: false }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// It, and the old ones.
    pub(super) fn paths(&self) -> impl Iterator<Item = PathBuf> {
        std::iter::once(self.path.clone()).chain((1..=self.keep).map(|n| self.old(n)))
    }

    fn old(&self, n: u32) -> PathBuf {
        let mut name = self.path.as_os_str().to_owned();
        name.push(format!(".{n}"));
        PathBuf::from(name)
    }

    /// Appends a line.
    ///
    /// # Errors
    /// What the system says, a full disk for example. The next line is tried again, and begins on a
    /// new line.
    pub fn append(&mut self, line: &str) -> io::Result<()> {
        let done = self.try_append(line);
        if done.is_err() {
            // The file may have gone, or hold half a line.
            self.open = None;
        }
        done
    }

    fn try_append(&mut self, line: &str) -> io::Result<()> {
        let length = line.len() as u64 + 1;
        if self.open.as_ref().is_some_and(|o| o.bytes > 0 && o.bytes + length > self.max_bytes) {
            self.open = None;
            self.rotate()?;
        }
        let mut open = match self.open.take() {
            Some(open) => open,
            None => self.open()?,
        };
        let mut text = String::with_capacity(line.len() + 2);
        if self.is_torn {
            text.push('\n');
        }
        text.push_str(line);
        text.push('\n');
        // Torn until proven whole.
        self.is_torn = true;
        open.file.write_all(text.as_bytes())?;
        self.is_torn = false;
        open.bytes += text.len() as u64;
        self.open = Some(open);
        Ok(())
    }

    fn open(&mut self) -> io::Result<OpenLog> {
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        let file = OpenOptions::new().create(true).append(true).open(&self.path)?;
        let bytes = file.metadata()?.len();
        // A node that was killed in the middle of a line.
        self.is_torn = bytes > 0 && !ends_with_newline(&self.path);
        Ok(OpenLog { file, bytes })
    }

    fn rotate(&self) -> io::Result<()> {
        if self.keep == 0 {
            return fs::remove_file(&self.path);
        }
        for n in (1..self.keep).rev() {
            match fs::rename(self.old(n), self.old(n + 1)) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
                _ => {}
            }
        }
        fs::rename(&self.path, self.old(1))
    }
}

fn ends_with_newline(path: &Path) -> bool {
    use std::io::{Read as _, Seek as _, SeekFrom};
    let last = || {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::End(-1))?;
        let mut byte = [0];
        file.read_exact(&mut byte)?;
        io::Result::Ok(byte[0])
    };
    last().is_ok_and(|b| b == b'\n')
}
