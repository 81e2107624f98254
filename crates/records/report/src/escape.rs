//! Text in HTML and XML.

/// Escapes a document for an attribute, keeping its lines.
pub(crate) fn escape_document(html: &str) -> String {
    html.split('\n').map(escape).collect::<Vec<_>>().join("&#10;")
}

/// Escapes `text` for an element or an attribute. Control characters, which XML cannot have, become spaces.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() || ('\u{fffe}'..='\u{ffff}').contains(&c) => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
