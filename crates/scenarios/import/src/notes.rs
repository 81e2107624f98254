//! Remarks about files, in addition to the scenario that they become.

use std::path::Path;

use wayhop_document::{Error, Omissions, Result};

use crate::counted;

const MOST_POINTS: usize = 2_000_000;

/// What was skipped, and what else the user should know.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// One for each file, in their order.
    pub(crate) skipped: Vec<Omissions>,
    pub(crate) remarks: Vec<String>,
    points: usize,
}

/// Keeps what fits, and counts the rest as a kind of what was skipped.
pub(crate) fn keep<T>(
    all: &mut Vec<T>,
    skipped: &mut Omissions,
    kind: [&str; 2],
    line: fn(&T) -> u32,
    mut fits: impl FnMut(&T) -> bool,
) {
    all.retain(|one| {
        let fits = fits(one);
        if !fits {
            skipped.add(line(one), kind);
        }
        fits
    });
}

impl Notes {
    pub(crate) fn of<'a>(files: impl IntoIterator<Item = &'a Path>) -> Self {
        Self { skipped: files.into_iter().map(Omissions::of).collect(), ..Self::default() }
    }

    pub(crate) fn count_point(&mut self, line: u32) -> Result<()> {
        self.points += 1;
        if self.points > MOST_POINTS {
            let many = format!("more than {MOST_POINTS} places");
            return Err(Error::new(many, "reduce them, or split the file").at_line(line));
        }
        Ok(())
    }

    /// The error if nothing is left: with everything that was skipped.
    pub(crate) fn nothing(&self, remedy: &str) -> Error {
        let one = self.skipped.len() == 1;
        let named = |s: &Omissions| {
            let kinds: Vec<String> = s.kinds().collect();
            let file = s.file().display().to_string();
            if one { kinds.join(", ") } else { format!("{file}: {}", kinds.join(", ")) }
        };
        let all: Vec<String> = self.skipped.iter().filter(|s| !s.is_empty()).map(named).collect();
        let reason = match &all[..] {
            [] => "contains no places".to_owned(),
            _ => format!("it has no usable content; skipped {}", all.join("; ")),
        };
        self.located(Error::new(reason, remedy))
    }

    /// Says which file an error is about, if there is only one.
    pub(crate) fn located(&self, e: Error) -> Error {
        match &self.skipped[..] {
            [only] => e.in_file(only.file()),
            _ => e,
        }
    }

    /// A remark about content without a counterpart in a scenario, if there is any.
    pub(crate) fn ignored(&mut self, count: usize, [one, several]: [&str; 2]) {
        if count > 0 {
            self.remarks.push(format!("ignored {}", counted(count, one, several)));
        }
    }
}
