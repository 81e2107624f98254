//! Golden captures: packets written down octet by octet, from which the capture files are made.
//!
//! A source is a text file, one for each capture. Lines before the first packet begin with `#` and say what the capture
//! shows. Then, for each packet:
//!
//! ```text
//! packet | what it is
//! 45 00 00 20 | octets in hexadecimal, and which field they are, with its section
//! 01 06 12 34
//! tshark dsr.option.type = 1
//! fault dsr.fs.id = 1 or 261 | why tshark shows 1 and not 261
//! complaints | why tshark may call the packet malformed
//! decode {"type": "rreq"}
//! ```
//!
//! `tshark` lines say what tshark shows in a field (several values joined by commas, numbers in decimal), `fault` lines
//! where it is wrong, with every value that is accepted, and `decode` lines what `wayhop decode` prints, one for each
//! message, without frame number and time.

use std::fs;
use std::path::Path;

/// A capture: its source, read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capture {
    /// The file name without extension.
    pub name: String,
    /// EventKind it shows.
    pub about: String,
    /// Its packets, from the IP header on.
    pub packets: Vec<GoldenPacket>,
}

/// A packet, and what others shall say of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GoldenPacket {
    /// EventKind it is.
    pub title: String,
    /// From the IP header on.
    pub bytes: Vec<u8>,
    /// EventKind tshark shows: (field, value).
    pub shows: Vec<(String, String)>,
    /// Where tshark is wrong.
    pub faults: Vec<Fault>,
    /// Why tshark may complain of the packet.
    pub complaints: Option<String>,
    /// EventKind `wayhop decode` prints: one JSON object a message.
    pub decoded: Vec<String>,
}

/// A field that tshark shows wrongly.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fault {
    /// The field.
    pub field: String,
    /// The values that are accepted: tshark's, and the right one.
    pub values: Vec<String>,
    /// EventKind is wrong.
    pub why: String,
}

impl Capture {
    /// Reads a source.
    ///
    /// # Errors
    /// Names the line that is none of the above.
    pub fn parse(name: &str, text: &str) -> Result<Self, String> {
        let mut c = Self { name: name.to_owned(), ..Self::default() };
        for (i, line) in text.lines().enumerate() {
            let line = line.trim();
            if !line.is_empty() {
                c.take(line).ok_or_else(|| format!("{name}, line {}: cannot be read: {line}", i + 1))?;
            }
        }
        if c.packets.iter().any(|p| p.bytes.is_empty()) || c.packets.is_empty() {
            return Err(format!("{name}: a packet without octets"));
        }
        Ok(c)
    }

    fn take(&mut self, line: &str) -> Option<()> {
        if let Some(text) = line.strip_prefix('#') {
            if !self.about.is_empty() {
                self.about.push(' ');
            }
            self.about.push_str(text.trim());
            return Some(());
        }
        if let Some(title) = line.strip_prefix("packet | ") {
            self.packets.push(GoldenPacket { title: title.to_owned(), ..GoldenPacket::default() });
            return Some(());
        }
        let p = self.packets.last_mut()?;
        if let Some(shown) = line.strip_prefix("tshark ") {
            let (field, value) = shown.split_once(" = ")?;
            p.shows.push((field.to_owned(), value.to_owned()));
        } else if let Some(fault) = line.strip_prefix("fault ") {
            let (what, why) = fault.split_once(" | ")?;
            let (field, values) = what.split_once(" = ")?;
            let values = values.split(" or ").map(str::to_owned).collect();
            p.faults.push(Fault { field: field.to_owned(), values, why: why.to_owned() });
        } else if let Some(why) = line.strip_prefix("complaints | ") {
            p.complaints = Some(why.to_owned());
        } else if let Some(json) = line.strip_prefix("decode ") {
            p.decoded.push(json.to_owned());
        } else {
            let octets = line.split_once('|').map_or(line, |(octets, _)| octets);
            for octet in octets.split_whitespace() {
                p.bytes.push(u8::from_str_radix(octet, 16).ok().filter(|_| octet.len() == 2)?);
            }
        }
        Some(())
    }

    /// The capture file: pcapng, raw IP, a packet a millisecond, each with its title as a comment.
    pub fn pcapng(&self) -> Vec<u8> {
        const SECTION_HEADER: u32 = 0x0a0d_0d0a;
        const INTERFACE_DESCRIPTION: u32 = 1;
        const ENHANCED_PACKET: u32 = 6;
        const LINKTYPE_RAW: u32 = 101;
        const SNAPLEN: u32 = 65_535;
        let mut out = Vec::new();
        let mut section = words(&[0x1a2b_3c4d, 1, u32::MAX, u32::MAX]);
        comment(&mut section, &self.about);
        block(&mut out, SECTION_HEADER, &section);
        block(&mut out, INTERFACE_DESCRIPTION, &words(&[LINKTYPE_RAW, SNAPLEN]));
        for (i, p) in self.packets.iter().enumerate() {
            let (us, len) = (i as u32 * 1_000, p.bytes.len() as u32);
            let mut packet = words(&[0, 0, us, len, len]);
            packet.extend_from_slice(&p.bytes);
            pad(&mut packet);
            comment(&mut packet, &p.title);
            block(&mut out, ENHANCED_PACKET, &packet);
        }
        out
    }
}

/// Reads every source (`*.txt`) of a folder, in the order of their names.
///
/// # Errors
/// Names the file that cannot be read.
pub fn read_all(folder: &Path) -> Result<Vec<Capture>, String> {
    let named = |e: std::io::Error| format!("{}: {e}", folder.display());
    let mut captures = Vec::new();
    for entry in fs::read_dir(folder).map_err(named)? {
        let path = entry.map_err(named)?.path();
        if path.extension().is_some_and(|e| e == "txt")
            && let Some(name) = path.file_stem().and_then(|n| n.to_str())
        {
            let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            captures.push(Capture::parse(name, &text)?);
        }
    }
    captures.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(captures)
}

fn words(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|w| w.to_le_bytes()).collect()
}

/// Fills up to 32 bits.
fn pad(to: &mut Vec<u8>) {
    to.resize(to.len().next_multiple_of(4), 0);
}

/// Appends an opt_comment and the end of the options.
fn comment(to: &mut Vec<u8>, text: &str) {
    const COMMENT: u32 = 1;
    to.extend(words(&[COMMENT | (text.len() as u32) << 16]));
    to.extend_from_slice(text.as_bytes());
    pad(to);
    to.extend(words(&[0]));
}

/// Appends a block: its type, its length, what is in it, its length again.
fn block(to: &mut Vec<u8>, kind: u32, body: &[u8]) {
    let len = body.len() as u32 + 12;
    to.extend(words(&[kind, len]));
    to.extend_from_slice(body);
    to.extend(words(&[len]));
}
