//! `cargo xtask book`: the book, from `docs/` to plain HTML files that need no network.
//!
//! `docs/index.md` is the first page; the chapters are those it links to, in that order. A link or a picture that leads
//! nowhere, a chapter that nothing links to and a formula that can't be read are errors.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};

use crate::step::{root, target};

const FIRST: &str = "index";
const STYLE: &str = include_str!("book.css");

/// Builds the book into `target/book` and says where it is.
pub fn book() -> Result<()> {
    let folder = target().join("book");
    build(&folder)?;
    println!("the book is at {}", folder.join("index.html").display());
    Ok(())
}

/// Builds the book into `folder`, which is made anew.
pub fn build(folder: &Path) -> Result<()> {
    let source = root().join("docs");
    let chapters = read(&source)?;
    if folder.exists() {
        fs::remove_dir_all(folder)
            .with_context(|| format!("{} is in the way", folder.display()))?;
    }
    fs::create_dir_all(folder).with_context(|| format!("{} can't be made", folder.display()))?;
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).with_context(|| format!("{} can't be written", path.display()))
    };
    write("book.css", STYLE)?;
    let mut pictures = BTreeSet::new();
    for (place, chapter) in chapters.iter().enumerate() {
        let page = page(&chapters, place, &mut pictures)
            .with_context(|| format!("docs/{}.md", chapter.name))?;
        write(&format!("{}.html", chapter.name), &page)?;
    }
    for picture in pictures {
        let from = source.join(&picture);
        let to = folder.join(&picture);
        to.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::copy(&from, &to).with_context(|| format!("{} can't be copied", from.display()))?;
    }
    Ok(())
}

struct Chapter {
    /// File name without its ending.
    name: String,
    title: String,
    text: String,
    /// Ids of its headings.
    places: Vec<String>,
}

/// The first page and all that it links to.
fn read(source: &Path) -> Result<Vec<Chapter>> {
    let first = chapter(source, FIRST)?;
    let mut names = Vec::new();
    for event in parser(&first.text) {
        if let Event::Start(Tag::Link { dest_url, .. }) = event
            && let Some(name) = dest_url.strip_suffix(".md")
            && !names.iter().any(|n| n == name)
        {
            names.push(name.to_owned());
        }
    }
    for entry in fs::read_dir(source).context("docs/ can't be read")? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let listed = name == FIRST || names.iter().any(|n| *n == name);
        ensure!(
            listed || path.extension().is_none_or(|e| e != "md"),
            "docs/{name}.md is not linked from docs/{FIRST}.md, so nobody would find it"
        );
    }
    let mut chapters = vec![first];
    for name in names {
        chapters.push(chapter(source, &name)?);
    }
    Ok(chapters)
}

fn chapter(source: &Path, name: &str) -> Result<Chapter> {
    let path: PathBuf = source.join(format!("{name}.md"));
    let text =
        fs::read_to_string(&path).with_context(|| format!("{} can't be read", path.display()))?;
    let headings = headings(&text);
    let Some((_, title, _)) = headings.iter().find(|h| h.0 == HeadingLevel::H1) else {
        bail!("docs/{name}.md has no title (a line that begins with #)");
    };
    Ok(Chapter {
        name: name.to_owned(),
        title: title.clone(),
        places: headings.iter().map(|h| h.2.clone()).collect(),
        text,
    })
}

fn parser(text: &str) -> Parser<'_> {
    Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_MATH)
}

/// Level, words and id of every heading.
fn headings(text: &str) -> Vec<(HeadingLevel, String, String)> {
    let mut found: Vec<(HeadingLevel, String, String)> = Vec::new();
    let mut inside = None;
    for event in parser(text) {
        match event {
            Event::Start(Tag::Heading { level, .. }) => inside = Some((level, String::new())),
            Event::Text(words) | Event::Code(words) => {
                if let Some((_, title)) = &mut inside {
                    title.push_str(&words);
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                if let Some((level, title)) = inside.take() {
                    let id = id_of(&title);
                    found.push((level, title, id));
                }
            }
            _ => {}
        }
    }
    found
}

/// As the common code hosts make it: small letters, digits, hyphens for spaces.
fn id_of(title: &str) -> String {
    let kept = title.chars().filter_map(|c| match c {
        ' ' | '-' => Some('-'),
        c if c.is_alphanumeric() => Some(c.to_ascii_lowercase()),
        _ => None,
    });
    kept.collect()
}

fn page(chapters: &[Chapter], place: usize, pictures: &mut BTreeSet<String>) -> Result<String> {
    let chapter = &chapters[place];
    let mut events = Vec::new();
    let mut ids = chapter.places.iter();
    for event in parser(&chapter.text) {
        events.push(match event {
            Event::InlineMath(formula) => Event::InlineHtml(mathematics(&formula, false)?.into()),
            Event::DisplayMath(formula) => Event::InlineHtml(mathematics(&formula, true)?.into()),
            Event::Start(Tag::Heading { level, .. }) => Event::Start(Tag::Heading {
                level,
                id: ids.next().map(|id| CowStr::from(id.clone())),
                classes: Vec::new(),
                attrs: Vec::new(),
            }),
            Event::Start(Tag::Link {
                link_type,
                dest_url,
                title,
                id,
            }) => Event::Start(Tag::Link {
                link_type,
                dest_url: follow(chapters, chapter, &dest_url)?.into(),
                title,
                id,
            }),
            Event::Start(Tag::Image { ref dest_url, .. }) => {
                let inside = !dest_url.contains("..") && !dest_url.contains("://");
                ensure!(
                    inside && root().join("docs").join(dest_url.as_ref()).is_file(),
                    "the picture {dest_url} is not in docs/"
                );
                pictures.insert(dest_url.to_string());
                event
            }
            Event::Html(_) | Event::InlineHtml(_) => bail!("HTML is not for the book's sources"),
            other => other,
        });
    }
    let mut body = String::new();
    html::push_html(&mut body, events.into_iter());
    Ok(frame(chapters, place, &body))
}

/// Where a link leads on the page: to a chapter, to a place in one, or out.
fn follow(chapters: &[Chapter], from: &Chapter, link: &str) -> Result<String> {
    if link.starts_with("http://") || link.starts_with("https://") {
        return Ok(link.to_owned());
    }
    let (file, place) = link.split_once('#').unwrap_or((link, ""));
    let to = if file.is_empty() {
        Some(from)
    } else {
        let name = file.strip_suffix(".md");
        chapters.iter().find(|c| Some(c.name.as_str()) == name)
    };
    let Some(to) = to else {
        bail!("the link to {link} leads to no chapter");
    };
    ensure!(
        place.is_empty() || to.places.iter().any(|p| p == place),
        "the link to {link} leads to no heading of docs/{}.md",
        to.name
    );
    let hash = if place.is_empty() { "" } else { "#" };
    Ok(format!("{}.html{hash}{place}", to.name))
}

/// A formula as MathML, which browsers draw themselves.
fn mathematics(formula: &str, display: bool) -> Result<String> {
    use pulldown_latex::{Parser, RenderConfig, Storage, config::DisplayMode, push_mathml};
    let storage = Storage::new();
    let events: Vec<_> = Parser::new(formula, &storage).collect();
    if let Some(error) = events.iter().find_map(|e| e.as_ref().err()) {
        bail!("the formula {formula} can't be read: {error}");
    }
    let mut out = String::new();
    let config = RenderConfig {
        display_mode: if display {
            DisplayMode::Block
        } else {
            DisplayMode::Inline
        },
        ..RenderConfig::default()
    };
    push_mathml(&mut out, events.into_iter(), config)?;
    Ok(out)
}

/// The page around a chapter: contents on the left, the way on below.
fn frame(chapters: &[Chapter], place: usize, body: &str) -> String {
    let link =
        |chapter: &Chapter, words: &str| format!("<a href=\"{}.html\">{words}</a>", chapter.name);
    let mut contents = String::new();
    for (i, chapter) in chapters.iter().enumerate() {
        let here = if i == place {
            " aria-current=\"page\""
        } else {
            ""
        };
        contents.push_str(&format!(
            "<li><a href=\"{}.html\"{here}>{}</a></li>\n",
            chapter.name,
            escape(&chapter.title)
        ));
    }
    let mut on = String::new();
    if let Some(before) = place.checked_sub(1).and_then(|i| chapters.get(i)) {
        on.push_str(&link(before, &format!("← {}", escape(&before.title))));
    }
    on.push_str("<span></span>");
    if let Some(next) = chapters.get(place + 1) {
        on.push_str(&link(next, &format!("{} →", escape(&next.title))));
    }
    let title = escape(&chapters[place].title);
    let name = if place == 0 {
        title
    } else {
        format!("{title} · Trocar")
    };
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{name}</title>\n<link rel=\"stylesheet\" href=\"book.css\">\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#text\">Skip to the text</a>\n\
         <nav aria-label=\"Contents\">\n<ol>\n{contents}</ol>\n</nav>\n\
         <main id=\"text\">\n{body}<footer>{on}</footer>\n</main>\n</body>\n</html>\n"
    )
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chapters() -> Vec<Chapter> {
        [
            ("index", "# Book\n[a](a.md)"),
            ("a", "# A & B\n## Second part: x\n"),
        ]
        .map(|(name, text)| Chapter {
            name: name.into(),
            title: headings(text)[0].1.clone(),
            places: headings(text).into_iter().map(|h| h.2).collect(),
            text: text.into(),
        })
        .into()
    }

    #[test]
    fn the_book_of_this_repository_can_be_built() {
        let folder = std::env::temp_dir().join(format!("trocar-book-{}", std::process::id()));
        build(&folder).unwrap();
        let first = fs::read_to_string(folder.join("index.html")).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        assert!(first.contains("aria-current=\"page\""));
    }

    #[test]
    fn links_lead_somewhere_or_are_errors() {
        let chapters = chapters();
        let follow = |link| follow(&chapters, &chapters[0], link);
        assert_eq!(follow("a.md").unwrap(), "a.html");
        assert_eq!(
            follow("a.md#second-part-x").unwrap(),
            "a.html#second-part-x"
        );
        assert_eq!(follow("#book").unwrap(), "index.html#book");
        assert_eq!(follow("https://x.org").unwrap(), "https://x.org");
        assert!(follow("b.md").is_err() && follow("a.md#third").is_err());
    }

    #[test]
    fn formulas_become_mathml_or_are_errors() {
        assert!(
            mathematics(r"\frac{a}{b}", false)
                .unwrap()
                .contains("<mfrac>")
        );
        assert!(mathematics(r"\frac{a", true).is_err());
    }

    #[test]
    fn titles_are_escaped_and_pages_chained() {
        let chapters = chapters();
        let page = frame(&chapters, 0, "");
        assert!(page.contains("A &amp; B →") && !page.contains('←'));
    }
}
