//! `web/src/wire.ts`, made of the types beside this file.

use super::*;
use std::{fs, path::Path};
use ts_rs::{Config, TS};

const HEAD: &str = "\
// Made by `cargo xtask wire` from crates/serve/src/wire: change those files, not this one.

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
        "web/src/wire.ts differs from crates/serve/src/wire; `cargo xtask wire` writes it anew"
    );
}

macro_rules! declare {
    ($text:ident: $($kind:ty),* $(,)?) => { $(declare::<$kind>(&mut $text);)* };
}

fn make() -> String {
    let mut text = format!("{HEAD}\nexport const PROTOCOL = {PROTOCOL};\n");
    declare!(text:
        Handle, EndoscopeHandle, Limits, EndoscopeLimits, Look, TissueDescription, PathDescription, CircleDescription, SceneryDescription,
        BodyDescription, InstrumentKind, InstrumentDescription, EndoscopeDescription, CameraDescription, SceneDescription,
        Role, Parameter, StepBound, FlagWord, MarkKind, MarkState, Mark, Task, NoticeKind, Marker, Replay, ServerMessage,
        ClientMessage, Problem, Health, LevelInfo, PartInfo, ExerciseInfo, SceneInfo, Profile, NewProfile,
        NewOperation, OperationKind, OperationInfo, Ending, ResultRow, Better, Measured, Part, Trace,
        ResultDetail,
    );
    text
}

fn declare<T: TS>(text: &mut String) {
    let docs = T::docs().unwrap_or_default();
    // JSON has one kind of number.
    let declared = T::decl(&Config::new().with_large_int("number"));
    text.push('\n');
    text.push_str(&tidy(&format!("{docs}export {declared}")));
    text.push('\n');
}

/// Gives every field and every case of a union its line.
fn tidy(declared: &str) -> String {
    let short = declared
        .replace("/**\n * ", "/** ")
        .replace("\n */\n", " */\n");
    let mut out = String::new();
    let mut rest = short.as_str();
    let mut depth = 0;
    while let Some(c) = rest.chars().next() {
        let mut taken = c.len_utf8();
        let line = |depth: usize| format!("\n{}", "  ".repeat(depth));
        match c {
            '/' if rest.starts_with("/**") => {
                taken = rest.find("*/").unwrap() + 2;
                out.push_str(&rest[..taken]);
                out.push_str(&line(depth));
            }
            '{' => {
                depth += 1;
                out.push('{');
                out.push_str(&line(depth));
            }
            '}' => {
                depth -= 1;
                out.truncate(out.trim_end().len());
                out.push_str(&line(depth));
                out.push('}');
            }
            ',' if depth > 0 && !within_brackets(&out) => {
                out.push(';');
                out.push_str(&line(depth));
            }
            '\n' => {}
            ' ' if out.ends_with([' ', '\n']) => {}
            _ => out.push(c),
        }
        rest = &rest[taken..];
    }
    out
}

/// True inside of `[…]` or `<…>`, whose commas separate no fields.
fn within_brackets(text: &str) -> bool {
    let field = text.rsplit(['{', ';']).next().unwrap_or_default();
    let count = |c| field.matches(c).count();
    count('[') > count(']') || count('<') > count('>')
}
