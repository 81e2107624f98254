//! The bytes of a file as text, in any encoding.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use wayhop_document::{Error, Result};

/// How far the declaration of an XML file may reach, octets.
const DECLARATION: usize = 200;

/// A text that may be long and have anything in it, for a message.
pub(crate) fn shown(text: &str) -> String {
    let short: String = text.chars().take(40).collect();
    let more = if short.len() < text.len() { "..." } else { "" };
    format!("{short:?}{more}")
}

/// The text of a file: by its byte-order mark, or by the declaration `<?xml encoding=...?>`; else as UTF-8 or, where
/// it is none, as Windows-1252, a superset of ISO 8859-1. Fails if the declaration names an unknown encoding, or the
/// file is empty or a zip archive.
pub fn text(octets: &[u8]) -> Result<String> {
    if octets.is_empty() {
        return Err(Error::new("is empty", "check that the tool wrote it"));
    }
    if octets.starts_with(b"PK\x03\x04") {
        return Err(Error::new("is a zip archive, like KMZ", "unpack it, and use the file in it"));
    }
    let declared = declared(octets);
    let encoding = match (Encoding::for_bom(octets), octets, declared) {
        (Some((encoding, _)), ..) => encoding,
        (None, [1..=255, 0, ..], _) => UTF_16LE,
        (None, [0, 1..=255, ..], _) => UTF_16BE,
        (None, _, Some(label)) => {
            let label = label?;
            let found = Encoding::for_label(label.as_bytes()).ok_or_else(|| {
                let reason = format!("the encoding {} is unknown", shown(&label));
                Error::new(reason, "save the file as UTF-8").at_line(1)
            })?;
            // The declaration itself is in ASCII.
            if found == UTF_16LE || found == UTF_16BE { UTF_8 } else { found }
        }
        _ if std::str::from_utf8(octets).is_ok() => UTF_8,
        _ => WINDOWS_1252,
    };
    let text = encoding.decode(octets).0.into_owned();
    // Old programs of the Macintosh end lines with CR alone.
    Ok(if text.contains('\n') { text } else { text.replace('\r', "\n") })
}

/// What the declaration of an XML file says of the encoding, if there is one.
fn declared(octets: &[u8]) -> Option<Result<String>> {
    let head = String::from_utf8_lossy(&octets[..octets.len().min(DECLARATION)]);
    let declaration = head.trim_start_matches('\u{feff}').strip_prefix("<?xml")?.split_once("?>")?.0;
    let rest = declaration.split_once("encoding")?.1.trim_start().strip_prefix('=')?.trim_start();
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let label = rest[1..].split_once(quote).map(|(label, _)| label.to_owned());
    Some(label.ok_or_else(|| {
        Error::new("the encoding in the first line is not closed", "add the missing quote").at_line(1)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_in_its_encoding() {
        let xml = |label: &str| format!("<?xml version=\"1.0\" encoding=\"{label}\"?><a>").into_bytes();
        let utf16 = |text: &str, order: fn(u16) -> [u8; 2]| -> Vec<u8> {
            text.encode_utf16().flat_map(order).collect()
        };
        // By xmllint: u umlaut is FC in ISO 8859-1, and 9C is oe in Windows-1252.
        for (name, octets, end) in [
            ("latin-1", [xml("ISO-8859-1"), vec![0xfc]].concat(), "<a>\u{fc}"),
            ("latin-9", [xml("iso-8859-15"), vec![0xa4]].concat(), "<a>\u{20ac}"),
            ("windows", [xml("windows-1252"), vec![0x9c]].concat(), "<a>\u{153}"),
            ("cyrillic", [xml("windows-1251"), vec![0xc0]].concat(), "<a>\u{410}"),
            ("utf-8", [xml("UTF-8"), "\u{fc}".into()].concat(), "<a>\u{fc}"),
            ("utf-8 with a mark", ["\u{feff}".into(), xml("UTF-8"), "\u{fc}".into()].concat(), "<a>\u{fc}"),
            ("said to be utf-16", [xml("UTF-16"), "\u{fc}".into()].concat(), "<a>\u{fc}"),
            ("utf-16", utf16("\u{feff}<a>\u{fc}", u16::to_le_bytes), "<a>\u{fc}"),
            ("big-endian", utf16("\u{feff}<a>\u{fc}", u16::to_be_bytes), "<a>\u{fc}"),
            ("utf-16 without a mark", utf16("<a>\u{fc}", u16::to_le_bytes), "<a>\u{fc}"),
            ("utf-16 without a mark, no XML", utf16("0.5 \u{fc}", u16::to_be_bytes), "0.5 \u{fc}"),
            ("lines that end with CR", b"<a>\r<b>".to_vec(), "<a>\n<b>"),
            ("no declaration", vec![b'<', b'a', b'>', 0xfc], "<a>\u{fc}"),
        ] {
            let read = text(&octets).unwrap();
            assert!(read.ends_with(end) && read.starts_with(['<', '0']), "{name}: {read:?}");
        }
        let said = |octets: &[u8]| text(octets).unwrap_err().to_string();
        assert!(said(&xml("klingon")).starts_with("line 1: the encoding \"klingon\" is unknown; save"));
        assert!(said(b"").starts_with("is empty"));
        assert!(said(b"PK\x03\x04").contains("zip archive"));
    }

    proptest::proptest! {
        #[test]
        fn any_octets_are_text_or_refused(octets: Vec<u8>, label in "[a-z0-9\"-]{0,12}") {
            let _ = text(&octets);
            let _ = text(&[format!("<?xml encoding=\"{label}").as_bytes(), &octets].concat());
        }
    }
}
