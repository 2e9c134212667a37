//! Walking through the bytes of a file: words, lines, numbers and raw blocks, each with its place.

use std::str::FromStr;

use glam::DVec3;

use super::error::{ParseError, Place};
use super::format::Format;

/// What to do about a file that ends too early or contradicts itself.
pub(super) const EXPORT_AGAIN: &str = "the file is damaged or cut short: copy or export it again";

/// A place in a file and the means to go on from there.
#[derive(Debug, Clone)]
pub(super) struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
    /// Whether raw bytes were read: from then on a place is a byte, as lines mean nothing.
    raw: bool,
    format: Format,
}

impl<'a> Scan<'a> {
    pub fn new(bytes: &'a [u8], format: Format) -> Self {
        Self {
            bytes,
            at: 0,
            line: 1,
            raw: false,
            format,
        }
    }

    /// An error at this place.
    pub fn error(&self, problem: impl Into<String>, remedy: &'static str) -> ParseError {
        let place = if self.raw {
            Place::Byte(self.at)
        } else {
            Place::Line(self.line)
        };
        ParseError {
            format: self.format,
            place,
            problem: problem.into(),
            remedy,
        }
    }

    /// The error that something is missing or wrong here, with the usual remedy.
    pub fn broken(&self, problem: impl Into<String>) -> ParseError {
        self.error(problem, EXPORT_AGAIN)
    }

    /// What has not been read yet.
    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// The next `length` bytes as a piece that ends there, its places those of the file.
    pub fn first(&self, length: usize) -> Self {
        let end = (self.at + length).min(self.bytes.len());
        Self {
            bytes: &self.bytes[..end],
            ..self.clone()
        }
    }

    /// The line this place is in, from 1.
    pub fn line_number(&self) -> usize {
        self.line
    }

    /// The rest of this line, without its end, or nothing at the end of the file.
    pub fn line(&mut self) -> Option<&'a [u8]> {
        if self.rest().is_empty() {
            return None;
        }
        let length = self
            .rest()
            .iter()
            .position(|&b| b == b'\n')
            .unwrap_or(self.rest().len());
        let line = &self.rest()[..length];
        self.step((length + 1).min(self.rest().len()));
        Some(line.trim_ascii())
    }

    /// The next word, skipping white space, or nothing at the end of the file.
    pub fn word(&mut self) -> Option<&'a [u8]> {
        let gap = self.rest().iter().position(|b| !is_space(*b))?;
        self.step(gap);
        let length = self
            .rest()
            .iter()
            .position(|&b| is_space(b))
            .unwrap_or(self.rest().len());
        let word = &self.rest()[..length];
        self.step(length);
        Some(word)
    }

    /// The next word, without going past it.
    pub fn peek(&self) -> Option<&'a [u8]> {
        self.clone().word()
    }

    /// The next word as a number.
    pub fn number<T: FromStr>(&mut self, what: &str) -> Result<T, ParseError> {
        let word = self
            .word()
            .ok_or_else(|| self.broken(format!("the file ends where {what} should be")))?;
        self.parse(word, what)
    }

    /// A word as a number, with this place for an error.
    pub fn parse<T: FromStr>(&self, word: &[u8], what: &str) -> Result<T, ParseError> {
        let text = std::str::from_utf8(word).ok();
        text.and_then(|t| t.parse().ok()).ok_or_else(|| {
            self.broken(format!(
                "`{}` is no number where {what} should be",
                excerpt(word)
            ))
        })
    }

    /// The next word as a count of things that take at least `least_bytes` each, which must still fit into the file.
    pub fn count(&mut self, what: &str, least_bytes: usize) -> Result<usize, ParseError> {
        let count: usize = self.number(&format!("the number of {what}"))?;
        self.fits(count, least_bytes, what)?;
        Ok(count)
    }

    /// Refuses a count that the rest of the file cannot hold: so no memory is claimed on a lie.
    pub fn fits(&self, count: usize, least_bytes: usize, what: &str) -> Result<(), ParseError> {
        match count.checked_mul(least_bytes) {
            // One byte more: the last number needs no separator after it.
            Some(bytes) if bytes <= self.rest().len() + 1 => Ok(()),
            _ => Err(self.broken(format!(
                "{count} {what} do not fit into the {} bytes that are left",
                self.rest().len()
            ))),
        }
    }

    /// Three words as a position. Checked when the surface is finished.
    pub fn position(&mut self) -> Result<DVec3, ParseError> {
        let mut coordinate = || self.number("a coordinate");
        Ok(DVec3::new(coordinate()?, coordinate()?, coordinate()?))
    }

    /// The next `length` bytes as they are.
    pub fn take(&mut self, length: usize, what: &str) -> Result<&'a [u8], ParseError> {
        self.raw = true;
        let Some(block) = self.rest().get(..length) else {
            return Err(self.broken(format!(
                "{what} needs {length} bytes, but only {} are left",
                self.rest().len()
            )));
        };
        self.at += length;
        Ok(block)
    }

    /// Goes on by `length` bytes of text, counting lines.
    pub fn step(&mut self, length: usize) {
        let passed = &self.bytes[self.at..self.at + length];
        self.line += passed.iter().filter(|&&b| b == b'\n').count();
        self.at += length;
    }
}

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b
}

/// The beginning of some bytes, fit for an error message.
pub(super) fn excerpt(bytes: &[u8]) -> String {
    let short = &bytes[..bytes.len().min(24)];
    let dots = if short.len() < bytes.len() { "…" } else { "" };
    format!("{}{dots}", short.escape_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_lines_know_their_place() {
        let mut scan = Scan::new(b"one two\r\n\n three", Format::Off);
        assert_eq!(scan.word(), Some(&b"one"[..]));
        assert_eq!(scan.line(), Some(&b"two"[..]));
        assert_eq!(scan.peek(), Some(&b"three"[..]));
        assert_eq!(
            scan.number::<u32>("a count").unwrap_err().place,
            Place::Line(3)
        );
        assert_eq!((scan.word(), scan.line()), (None, None));
    }

    #[test]
    fn a_count_beyond_the_file_is_refused() {
        let claim = |text: &str| Scan::new(text.as_bytes(), Format::Off).count("points", 2);
        assert_eq!(claim("3 1 2 3"), Ok(3));
        assert!(claim("9 1 2 3").is_err());
        assert!(claim("18446744073709551615 1").is_err());
        assert!(claim("-1").is_err());
    }
}
