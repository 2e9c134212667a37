//! Errors that name file, line, column and remedy, as those of scenes do.

use toml::de::DeValue;
use trocar_scene::SceneError;

/// One step of a place in a file.
#[derive(Clone, Copy, Debug)]
pub enum Key<'a> {
    /// A key of a table.
    Name(&'a str),
    /// An index of an array.
    Index(usize),
}

impl<'a> From<&'a str> for Key<'a> {
    fn from(name: &'a str) -> Self {
        Self::Name(name)
    }
}

impl From<usize> for Key<'_> {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

/// A file's text and the name under which users know it.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    /// Its name as the user would type it.
    pub shown: &'a str,
    /// Its text.
    pub text: &'a str,
}

impl Page<'_> {
    /// An error at the deepest part of `at` that the file has.
    pub fn error(
        &self,
        at: &[Key<'_>],
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> SceneError {
        SceneError {
            file: self.shown.into(),
            place: locate(self.text, at),
            problem: problem.into(),
            remedy: remedy.into(),
        }
    }

    /// Line and column of a byte, counted from 1.
    pub fn place(&self, byte: usize) -> (usize, usize) {
        line_and_column(self.text, byte)
    }
}

fn line_and_column(text: &str, byte: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(byte.min(text.len()))];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |l| l.chars().count()) + 1;
    (line, column)
}

fn locate(text: &str, at: &[Key<'_>]) -> Option<(usize, usize)> {
    let root = toml::de::DeTable::parse(text).ok()?;
    let mut span = None;
    let mut value: Option<&DeValue<'_>> = None;
    for key in at {
        let next = match (key, value) {
            (Key::Name(name), None) => root.get_ref().get(*name),
            (Key::Name(name), Some(inner)) => inner.get(*name),
            (Key::Index(i), Some(inner)) => inner.get(*i),
            (Key::Index(_), None) => None,
        };
        let Some(next) = next else { break };
        span = Some(next.span());
        value = Some(next.get_ref());
    }
    Some(line_and_column(text, span?.start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_stands_at_the_deepest_key_there_is() {
        let text = "trocar = 1\n[[level]]\nname = \"é\"\n[level.goal.lift]\n  hold = -1\n";
        let page = Page {
            shown: "x.toml",
            text,
        };
        let at = |keys: &[Key<'_>]| page.error(keys, "p", "r").place;
        let lift = ["level".into(), 0.into(), "goal".into(), "lift".into()];
        assert_eq!(at(&[&lift[..], &["hold".into()]].concat()), Some((5, 10)));
        assert_eq!(
            at(&[&lift[..], &["none".into()]].concat()).map(|p| p.0),
            Some(4)
        );
        assert_eq!(at(&["nothing".into()]), None);
    }
}
