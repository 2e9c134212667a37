//! As much XML as VTK writes: tags with attributes, and the text after them.

use super::error::ParseError;
use super::scan::Scan;

/// A tag: `<name key="value">`, `</name>` or `<name/>`.
pub(super) struct Tag<'a> {
    /// Its name, with the slash in front if it ends an element.
    pub name: &'a str,
    attributes: Vec<(&'a str, &'a str)>,
    /// The text up to the next tag.
    pub text: &'a [u8],
}

impl<'a> Tag<'a> {
    /// The next tag, passing over comments and declarations; nothing at the end of the file.
    pub fn next(scan: &mut Scan<'a>) -> Result<Option<Self>, ParseError> {
        loop {
            let Some(open) = scan.rest().iter().position(|&b| b == b'<') else {
                return Ok(None);
            };
            scan.step(open);
            let comment = scan.rest().starts_with(b"<!--");
            let end: &[u8] = if comment { b"-->" } else { b">" };
            let Some(length) = scan.rest().windows(end.len()).position(|w| w == end) else {
                return Err(scan.broken("a tag has no end"));
            };
            let inside = &scan.rest()[1..length.max(1)];
            if comment || inside.starts_with(b"?") || inside.starts_with(b"!") {
                scan.step(length + end.len());
                continue;
            }
            let Some(mut tag) = std::str::from_utf8(inside).ok().and_then(Tag::parse) else {
                return Err(scan.broken("a tag makes no sense"));
            };
            scan.step(length + end.len());
            let text = scan.rest();
            tag.text = &text[..text.iter().position(|&b| b == b'<').unwrap_or(text.len())];
            return Ok(Some(tag));
        }
    }

    /// The value of an attribute.
    pub fn attribute(&self, key: &str) -> Option<&'a str> {
        self.attributes
            .iter()
            .find(|(k, _)| *k == key)
            .map(|&(_, value)| value)
    }

    fn parse(inside: &'a str) -> Option<Self> {
        let inside = inside.trim().trim_end_matches('/').trim_end();
        let (name, mut rest) = inside
            .split_once(char::is_whitespace)
            .unwrap_or((inside, ""));
        let mut attributes = Vec::new();
        while let Some((key, after)) = rest.split_once('=') {
            let after = after.trim_start();
            let quote = after.chars().next().filter(|c| matches!(c, '"' | '\''))?;
            let (value, after) = after[1..].split_once(quote)?;
            attributes.push((key.trim(), value));
            rest = after;
        }
        Some(Tag {
            name,
            attributes,
            text: &[],
        })
    }
}
