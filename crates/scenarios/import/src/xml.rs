//! XML with line numbers.

use std::borrow::Cow;

use roxmltree::{Document, Node, ParsingOptions};
use wayhop_document::{Error, Omissions, Result};

/// The most elements and texts that are read.
const MOST_NODES: u32 = 20_000_000;

const UNFINISHED: [&str; 2] =
    ["unfinished element at the end of the file", "unfinished elements at the end of the file"];

/// A text that may be truncated, like that of a device that lost power: up to its last complete tag, with open
/// elements closed.
pub(crate) fn whole<'a>(text: &'a str, skipped: &mut Omissions) -> Cow<'a, str> {
    let mut open: Vec<&str> = Vec::new();
    let mut behind = 0;
    while let Some(start) = text[behind..].find('<') {
        let rest = &text[behind + start..];
        let special = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")];
        let end = special.iter().find(|(begin, _)| rest.starts_with(begin)).map_or(">", |(_, end)| *end);
        let Some(last) = rest.find(end) else { break };
        let tag = &rest[1..last];
        if let Some(name) = tag.strip_prefix('/') {
            // What is wrong otherwise is for the parser to say.
            if open.pop() != Some(name.trim_end()) {
                return text.into();
            }
        } else if end == ">" && !tag.starts_with('!') && !tag.ends_with('/') {
            open.extend(tag.split_ascii_whitespace().next());
        }
        behind += start + last + end.len();
    }
    if open.is_empty() {
        return text.into();
    }
    let lines = text[..behind].matches('\n').count();
    skipped.add(lines as u32 + 1, UNFINISHED);
    let ends = open.iter().rev().flat_map(|name| ["</", name, ">"]);
    [&text[..behind]].into_iter().chain(ends).collect::<String>().into()
}

pub(crate) fn document<'a>(text: &'a str, root: &str) -> Result<Document<'a>> {
    let options = ParsingOptions { nodes_limit: MOST_NODES, ..ParsingOptions::default() };
    let read = Document::parse_with_options(text, options).map_err(|e| match e {
        roxmltree::Error::DtdDetected => {
            Error::new("has a document type definition", "remove <!DOCTYPE ...> from its beginning")
        }
        e => Error::new(format!("not valid XML: {e}"), "use the file as the tool wrote it")
            .at_line(e.pos().row),
    })?;
    let found = read.root_element().tag_name().name();
    if found != root {
        let wrong = format!("starts with <{}> instead of <{root}>", shown_name(found));
        return Err(Error::new(wrong, "check that this is the right file").at_line(1));
    }
    Ok(read)
}

pub(crate) fn shown_name(name: &str) -> String {
    name.chars().take(40).collect()
}

pub(crate) fn all<'a, 'i: 'a>(n: Node<'a, 'i>, name: &'static str) -> impl Iterator<Item = Node<'a, 'i>> {
    n.descendants().filter(move |c| c.is_element() && c.tag_name().name() == name)
}

pub(crate) fn elements<'a, 'i: 'a>(n: Node<'a, 'i>) -> impl Iterator<Item = Node<'a, 'i>> {
    n.children().filter(Node::is_element)
}

/// Elements of this name right below an element.
pub(crate) fn children<'a, 'i: 'a>(
    n: Node<'a, 'i>,
    name: &'static str,
) -> impl Iterator<Item = Node<'a, 'i>> {
    n.children().filter(move |c| c.is_element() && c.tag_name().name() == name)
}

pub(crate) fn child_text<'a>(n: Node<'a, '_>, name: &'static str) -> Option<&'a str> {
    n.children().find(|c| c.is_element() && c.tag_name().name() == name)?.text().map(str::trim)
}

pub(crate) fn finite(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|v| v.is_finite())
}

/// Where the lines of a text begin: for files with many places, each of which may have to be named.
pub(crate) struct Lines(Vec<usize>);

impl Lines {
    pub(crate) fn of(text: &str) -> Self {
        Self(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i).collect())
    }

    pub(crate) fn line(&self, n: Node<'_, '_>) -> u32 {
        self.0.partition_point(|end| *end < n.range().start) as u32 + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_cut_leaves_open_is_closed() {
        let head = "<?xml version='1.0'?><!-- <x> --><a b='c'>\n<d/>";
        for (rest, closed) in [
            ("", Some("</a>")),
            ("<e f='1'><g>5", Some("</g></e></a>")),
            ("<e f='1", Some("</a>")),
            ("</", Some("</a>")),
            ("<![CDATA[ </a>", Some("</a>")),
            ("</a>", None),
            ("</e></a>", None),
            ("<e f='>'/></a>", None),
        ] {
            let (text, mut skipped) = (format!("{head}{rest}"), Omissions::default());
            let got = whole(&text, &mut skipped);
            match closed {
                None => assert_eq!((&*got, skipped.is_empty()), (text.as_str(), true)),
                Some(end) => {
                    assert!(got.starts_with(head) && got.ends_with(end) && !got.ends_with('5'), "{got}");
                    let unfinished = "1 unfinished element at the end of the file (line 2)";
                    assert_eq!(skipped.kinds().next().unwrap(), unfinished);
                    document(&got, "a").unwrap();
                }
            }
        }
    }
}
