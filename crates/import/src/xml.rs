//! XML with line numbers.

use roxmltree::{Document, Node, ParsingOptions};

use crate::error::{Error, shown};

/// Elements and texts that are read at most.
const MOST_NODES: u32 = 20_000_000;

/// Reads a document whose root is called `root`.
pub(crate) fn document<'a>(text: &'a str, root: &str) -> Result<Document<'a>, Error> {
    let options = ParsingOptions { nodes_limit: MOST_NODES, ..ParsingOptions::default() };
    let read = Document::parse_with_options(text, options).map_err(|e| {
        Error::new(format!("no XML: {e}"), "give the file as the tool wrote it").at(e.pos().row)
    })?;
    let found = read.root_element().tag_name().name().to_owned();
    if found != root {
        let wrong = format!("begins with <{}>, and not with <{root}>", shown_name(&found));
        return Err(Error::new(wrong, "check that this is the right file").at(1));
    }
    Ok(read)
}

/// The name of an element, for a message.
pub(crate) fn shown_name(name: &str) -> String {
    name.chars().take(40).collect()
}

/// The line of an element.
pub(crate) fn line(n: Node<'_, '_>) -> u32 {
    n.document().text_pos_at(n.range().start).row
}

/// Elements of this name below an element.
pub(crate) fn all<'a, 'i: 'a>(n: Node<'a, 'i>, name: &'static str) -> impl Iterator<Item = Node<'a, 'i>> {
    n.descendants().filter(move |c| c.is_element() && c.tag_name().name() == name)
}

/// All elements right below an element.
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

/// The text of the first element of this name right below an element.
pub(crate) fn child_text<'a>(n: Node<'a, '_>, name: &'static str) -> Option<&'a str> {
    n.children().find(|c| c.is_element() && c.tag_name().name() == name)?.text().map(str::trim)
}

/// An attribute that is a number.
pub(crate) fn number(n: Node<'_, '_>, attribute: &str) -> Result<f64, Error> {
    optional_number(n, attribute)?.ok_or_else(|| {
        let name = n.tag_name().name();
        Error::new(format!("<{}> has no attribute {attribute}", shown_name(name)), "add it").at(line(n))
    })
}

/// An attribute that is a number, if it is there.
pub(crate) fn optional_number(n: Node<'_, '_>, attribute: &str) -> Result<Option<f64>, Error> {
    let Some(text) = n.attribute(attribute) else { return Ok(None) };
    finite(text).map(Some).ok_or_else(|| {
        Error::new(format!("{attribute}={} is no number", shown(text)), "correct it").at(line(n))
    })
}

/// A finite number.
pub(crate) fn finite(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|v| v.is_finite())
}

/// Where the lines of a text begin: for files with many places, each of which may have to be named.
pub(crate) struct Lines(Vec<usize>);

impl Lines {
    pub(crate) fn of(text: &str) -> Self {
        Self(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i).collect())
    }

    /// The line of an element.
    pub(crate) fn line(&self, n: Node<'_, '_>) -> u32 {
        self.0.partition_point(|end| *end < n.range().start) as u32 + 1
    }
}
