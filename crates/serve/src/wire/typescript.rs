//! `web/src/wire.ts`, made of the types in `wire.rs`.

use super::*;
use std::{fs, path::Path};
use ts_rs::Config;

const HEAD: &str = "\
// Made by `cargo xtask wire` from crates/serve/src/wire.rs: change that file, not this one.

// The JSON half of the protocol between the server and the page.
// Lengths in m, angles in radians unless said otherwise, times in s. Colours are sRGB, 0 to 1.
";

#[test]
fn the_page_speaks_the_same_protocol() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/src/wire.ts");
    let made = make();
    if std::env::var_os("TROCAR_UPDATE").is_some_and(|v| v == "1") {
        fs::write(&path, &made).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == made,
        "web/src/wire.ts differs from crates/serve/src/wire.rs; `cargo xtask wire` writes it anew"
    );
}

fn make() -> String {
    let mut text = String::from(HEAD);
    declare::<Handle>(&mut text);
    declare::<Limits>(&mut text);
    declare::<TissueDescription>(&mut text);
    declare::<SceneryDescription>(&mut text);
    declare::<BodyDescription>(&mut text);
    declare::<InstrumentDescription>(&mut text);
    declare::<CameraDescription>(&mut text);
    declare::<SceneDescription>(&mut text);
    declare::<Role>(&mut text);
    declare::<ServerMessage>(&mut text);
    declare::<ClientMessage>(&mut text);
    text
}

fn declare<T: TS>(text: &mut String) {
    let docs = T::docs().unwrap_or_default();
    let declared = format!("{docs}export {}", T::decl(&Config::new()));
    text.push('\n');
    text.push_str(&tidy(&declared));
    text.push('\n');
}

/// Lays a declaration out as Biome would. It knows just what stands in this file: types that are objects, unions
/// of objects or of words.
fn tidy(declared: &str) -> String {
    let mut short = declared
        .replace("/**\n * ", "/** ")
        .replace("\n */\n", " */\n")
        .replace("\"type\":", "type:");
    while let Some(start) = short.find("Array<") {
        let end = start + short[start..].find('>').unwrap();
        short.replace_range(end..=end, "[]");
        short.replace_range(start..start + "Array<".len(), "");
    }
    let is_union = short.contains("} | {");
    let mut out = String::new();
    let mut rest = short.as_str();
    let (mut braces, mut brackets) = (0, 0);
    let indent = |braces: usize| match (braces, is_union) {
        (0, _) => "\n",
        (_, false) => "\n  ",
        (_, true) => "\n      ",
    };
    while let Some(c) = rest.chars().next() {
        let mut taken = c.len_utf8();
        match c {
            '/' if rest.starts_with("/**") => {
                taken = rest.find("*/").unwrap() + 2;
                out.push_str(&rest[..taken]);
                out.push_str(indent(braces));
            }
            '{' => {
                if is_union && out.ends_with("= ") {
                    out.truncate(out.len() - 1);
                    out.push_str("\n  | ");
                }
                braces += 1;
                out.push('{');
                out.push_str(indent(braces));
            }
            '}' => {
                braces -= 1;
                out.truncate(out.trim_end().len());
                out.push_str(if is_union { "\n    }" } else { "\n}" });
            }
            '|' if braces == 0 && is_union => {
                out.truncate(out.trim_end().len());
                out.push_str("\n  |");
            }
            ',' if braces > 0 && brackets == 0 => {
                out.push(';');
                out.push_str(indent(braces));
            }
            '\n' => {}
            ' ' if out.ends_with([' ', '\n']) => {}
            _ => {
                brackets += usize::from(c == '[');
                brackets -= usize::from(c == ']');
                out.push(c);
            }
        }
        rest = &rest[taken..];
    }
    // What has a single field stands in one line.
    ["pause", "resume", "restart"]
        .into_iter()
        .fold(out, |text, word| {
            text.replace(
                &format!("{{\n      type: \"{word}\";\n    }}"),
                &format!("{{ type: \"{word}\" }}"),
            )
        })
}
