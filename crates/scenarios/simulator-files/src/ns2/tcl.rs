//! Cuts Tcl into commands and words: separators, comments, quotes, braces, brackets, continuation lines.
//!
//! Nothing is evaluated here. Words borrow from the text unless a backslash makes them differ from it. No input panics,
//! and nothing recurses: nesting is counted.

use std::borrow::Cow;

use wayhop_document::{Error, LineColumn, Result};

/// How a word was written.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Without quotes.
    Bare,
    /// In `"..."`: variables are substituted.
    Quoted,
    /// In `{...}`: taken as it is.
    Braced,
    /// In `[...]` from end to end: the result of a command.
    Bracketed,
}

/// A word without its delimiters.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Word<'a> {
    pub(crate) text: Cow<'a, str>,
    pub(crate) form: Form,
    /// Where it begins, its delimiter included.
    pub(crate) place: LineColumn,
}

/// The words of one command; never empty.
pub(crate) type Command<'a> = Vec<Word<'a>>;

/// Gives the commands of a text one after the other.
pub(crate) struct Commands<'a> {
    text: &'a str,
    pos: usize,
    /// The line that `pos` is on, where it begins, and how far its first line is indented in the whole file.
    line: u32,
    line_start: usize,
    indent: u32,
    failed: bool,
}

impl<'a> Commands<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self::nested(text, LineColumn { line: 1, column: 1 })
    }

    /// The commands of a word's text, which begins at `start`.
    pub(crate) fn nested(text: &'a str, start: LineColumn) -> Self {
        Self { text, pos: 0, line: start.line, line_start: 0, indent: start.column.max(1) - 1, failed: false }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.pos).copied()
    }

    fn second(&self) -> Option<u8> {
        self.text.as_bytes().get(self.pos + 1).copied()
    }

    fn bump(&mut self) {
        if self.peek() == Some(b'\n') {
            self.line += 1;
            self.line_start = self.pos + 1;
            self.indent = 0;
        }
        self.pos += 1;
    }

    fn place(&self) -> LineColumn {
        LineColumn { line: self.line, column: (self.pos - self.line_start) as u32 + 1 + self.indent }
    }

    /// Passes a backslash and what it guards; a guarded line end takes the blanks after it along.
    fn skip_escape(&mut self) {
        self.bump();
        if self.peek() == Some(b'\r') && self.second() == Some(b'\n') {
            self.bump();
        }
        let guarded = self.peek();
        if guarded.is_some() {
            self.bump();
        }
        if guarded == Some(b'\n') {
            while matches!(self.peek(), Some(b' ' | b'\t')) {
                self.bump();
            }
        }
    }

    fn at_continuation(&self) -> bool {
        let rest = &self.text.as_bytes()[self.pos..];
        rest.starts_with(b"\\\n") || rest.starts_with(b"\\\r\n")
    }

    /// Passes blanks and continuation lines within a command.
    fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\r') => self.bump(),
                Some(b'\\') if self.at_continuation() => self.skip_escape(),
                _ => return,
            }
        }
    }

    /// Passes everything up to the next command's first word.
    fn skip_to_command(&mut self) {
        loop {
            self.skip_blanks();
            match self.peek() {
                Some(b'\n' | b';') => self.bump(),
                Some(b'#') => loop {
                    match self.peek() {
                        None | Some(b'\n') => break,
                        Some(b'\\') => self.skip_escape(),
                        Some(_) => self.bump(),
                    }
                },
                _ => return,
            }
        }
    }

    fn word(&mut self) -> Result<Word<'a>> {
        let place = self.place();
        match self.peek() {
            Some(b'"') => self.delimited(place, Form::Quoted),
            Some(b'{') => self.delimited(place, Form::Braced),
            _ => self.bare(place),
        }
    }

    fn delimited(&mut self, place: LineColumn, form: Form) -> Result<Word<'a>> {
        self.bump();
        let start = self.pos;
        let mut depth = 0usize;
        loop {
            match (self.peek(), form) {
                (None, _) => return Err(unclosed(place, if form == Form::Braced { "{" } else { "\"" })),
                (Some(b'\\'), _) => {
                    self.skip_escape();
                    continue;
                }
                (Some(b'"'), Form::Quoted) | (Some(b'}'), Form::Braced) if depth == 0 => break,
                (Some(b'['), Form::Quoted) | (Some(b'{'), Form::Braced) => depth += 1,
                (Some(b']'), Form::Quoted) => depth = depth.saturating_sub(1),
                (Some(b'}'), Form::Braced) => depth -= 1,
                _ => {}
            }
            self.bump();
        }
        let raw = &self.text[start..self.pos];
        self.bump();
        let ends = matches!(self.peek(), None | Some(b' ' | b'\t' | b'\r' | b'\n' | b';'));
        if !ends && !self.at_continuation() {
            let reason = "characters follow a closing quote or brace";
            return Err(Error::new(reason, "put a space between the words").at(self.place()));
        }
        let text = if form == Form::Braced { Cow::Borrowed(raw) } else { unescape(raw) };
        Ok(Word { text, form, place })
    }

    fn bare(&mut self, place: LineColumn) -> Result<Word<'a>> {
        let start = self.pos;
        let mut depth = 0usize;
        let mut index = false;
        // Whether one bracket spans the word.
        let mut closed_at = None;
        loop {
            match self.peek() {
                None if depth > 0 => return Err(unclosed(place, "[")),
                None => break,
                Some(b'\n' | b';') if depth == 0 => break,
                Some(b' ' | b'\t' | b'\r') if depth == 0 && !index => break,
                Some(b'\\') if depth == 0 && self.at_continuation() => break,
                Some(b'\\') => {
                    self.skip_escape();
                    continue;
                }
                Some(b'[') => depth += 1,
                Some(b']') => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        closed_at.get_or_insert(self.pos);
                    }
                }
                // $name(an index with blanks) is one word.
                Some(b'(') if self.text[start..self.pos].starts_with('$') => index = true,
                Some(b')') => index = false,
                _ => {}
            }
            self.bump();
        }
        let raw = &self.text[start..self.pos];
        if raw.starts_with('[') && closed_at == Some(self.pos - 1) {
            return Ok(Word { text: Cow::Borrowed(&raw[1..raw.len() - 1]), form: Form::Bracketed, place });
        }
        Ok(Word { text: unescape(raw), form: Form::Bare, place })
    }
}

impl<'a> Iterator for Commands<'a> {
    type Item = Result<Command<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        self.skip_to_command();
        let mut words = Vec::with_capacity(6);
        loop {
            self.skip_blanks();
            match self.peek() {
                None | Some(b'\n' | b';') => break,
                _ => match self.word() {
                    Ok(word) => words.push(word),
                    Err(e) => {
                        self.failed = true;
                        return Some(Err(e));
                    }
                },
            }
        }
        (!words.is_empty()).then_some(Ok(words))
    }
}

fn unclosed(place: LineColumn, delimiter: &str) -> Error {
    Error::new(
        format!("the {delimiter} that opens here is never closed"),
        "close it; if the file ends in the middle of a line, it is truncated: download or write it again",
    )
    .at(place)
}

fn unescape(raw: &str) -> Cow<'_, str> {
    if !raw.contains('\\') {
        return Cow::Borrowed(raw);
    }
    let mut out = String::with_capacity(raw.len());
    let mut chars = raw.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('\r') if chars.peek() == Some(&'\n') => {}
            Some('\n') => {
                while chars.next_if(|c| matches!(c, ' ' | '\t')).is_some() {}
                out.push(' ');
            }
            Some(other) => out.push(other),
            None => out.push('\\'),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
#[path = "tcl_tests.rs"]
mod tests;
