//! Kuhn's attribute bits of objects (App. A.1): a word that says how a tissue moves and what acts on it, by name or as a whole.
//!
//! Each bit stands for something that a material says by a name of its own, and that can be changed while the scene runs; so a word or a token
//! becomes changes of parameters, and recordings and snapshots know nothing of words. Bits that say nothing here are refused with a reason.

use crate::{
    Change, Parameter, Simulation,
    build::{Model, Tissue},
    file::{FlagsSpec, IntegratorName, MaterialSpec, SceneFile},
    load::{Key, Scene, SceneError},
    parameter::{CHOICES, SLOW_MOTION},
};
use std::borrow::Cow;

/// A bit of the word.
struct Attribute {
    token: &'static str,
    bit: u32,
    does: Does,
}

/// What a bit stands for.
#[derive(Clone, Copy)]
enum Does {
    /// A choice of a tissue, by its name: which it is while the bit is clear, and which while it is set.
    Choice(&'static str, [usize; 2]),
    /// The scheme by which a tissue moves; at most one of them.
    Scheme(IntegratorName),
    /// Time passes slower, for all tissues together.
    SlowMotion,
    /// Steps have a set length: they always do.
    FixedStep,
    /// How something is drawn.
    Drawn,
}

/// Every bit that the source prints, in ascending order.
const ATTRIBUTES: [Attribute; 20] = [
    of("MOVE", 4, Does::Choice("mobile", [0, 1])),
    of("POLYDRAW", 5, Does::Drawn),
    of("GRAV", 6, Does::Choice("gravity", [0, 1])),
    of("GROUND", 7, Does::Choice("on ground", [0, 1])),
    of("QDYN", 8, Does::Scheme(IntegratorName::QuasiDynamic)),
    of("CALC_TIME", 9, Does::FixedStep),
    of("INTER", 10, Does::Choice("touchable", [1, 0])),
    of("NURBSDRAW", 11, Does::Drawn),
    of("SLOWMOT", 12, Does::SlowMotion),
    of("CALC_NORM", 13, Does::Scheme(IntegratorName::Mesd)),
    of("CALC_KUHN", 14, Does::Scheme(IntegratorName::Weighted)),
    of("TEST", 15, Does::Drawn),
    of("NOBEND", 16, Does::Choice("bends", [1, 0])),
    of("NORMLOCAL", 17, Does::Drawn),
    of("NORMSHOW", 18, Does::Drawn),
    of("DRAWFINE", 19, Does::Drawn),
    of("CALC_I", 20, Does::Scheme(IntegratorName::Midpoint)),
    // Of the two kinds of each the one with implicit damping: the family of the others, and what the source finds decisive.
    of(
        "CALC_II",
        21,
        Does::Scheme(IntegratorName::ModifiedRungeKutta),
    ),
    of("CALC_III", 22, Does::Scheme(IntegratorName::ModifiedHeun)),
    of("ELA_COAG_SPARK", 23, Does::Drawn),
];

const fn of(token: &'static str, shift: u32, does: Does) -> Attribute {
    Attribute {
        token,
        bit: 1 << shift,
        does,
    }
}

/// What all tissues are called.
pub const ALL: &str = "ALL";

/// What attribute bits shall be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flags {
    /// These, and no others.
    Word(u32),
    /// One of them set or cleared, by its token.
    Token(String, bool),
}

/// The attribute that a token names, with the source's prefix or without.
fn named(token: &str) -> Result<&'static Attribute, String> {
    let bare = token.strip_prefix("ELADYN_").unwrap_or(token);
    let found = ATTRIBUTES.iter().find(|a| a.token == bare);
    found.ok_or_else(|| {
        let known: Vec<&str> = ATTRIBUTES.iter().map(|a| a.token).collect();
        format!(
            "there is no attribute \"{token}\"; there are {}",
            known.join(", ")
        )
    })
}

/// The word without what it must not say; or why it can't be.
fn checked(word: u32) -> Result<u32, String> {
    let known = ATTRIBUTES.iter().fold(0, |sum, a| sum | a.bit);
    if word & !known != 0 {
        let strange = word & !known;
        return Err(format!("{strange:#x} of {word:#x} are no attribute bits"));
    }
    let is_set = |a: &&Attribute| word & a.bit != 0;
    let drawn = ATTRIBUTES.iter().filter(is_set);
    let drawn: Vec<&Attribute> = drawn.filter(|a| matches!(a.does, Does::Drawn)).collect();
    if !drawn.is_empty() {
        let tokens: Vec<&str> = drawn.iter().map(|a| a.token).collect();
        let rest = drawn.iter().fold(word, |word, a| word & !a.bit);
        return Err(format!(
            "{} of {word:#x} say how it is drawn, which whoever looks on chooses; without them it is {rest:#x}",
            tokens.join(", ")
        ));
    }
    let schemes = ATTRIBUTES.iter().filter(is_set);
    let schemes = schemes.filter(|a| matches!(a.does, Does::Scheme(_)));
    let schemes: Vec<&str> = schemes.map(|a| a.token).collect();
    if schemes.len() > 1 {
        return Err(format!(
            "{} contradict each other: a tissue moves by one scheme",
            schemes.join(" and ")
        ));
    }
    Ok(word)
}

/// The scheme that a word names; MESD if it names none.
fn scheme(word: u32) -> IntegratorName {
    let set = ATTRIBUTES.iter().filter(|a| word & a.bit != 0);
    let mut schemes = set.filter_map(|a| match a.does {
        Does::Scheme(scheme) => Some(scheme),
        _ => None,
    });
    schemes.next().unwrap_or_default()
}

/// The place of a scheme among all of them: the value of the parameter.
fn place(scheme: IntegratorName) -> f64 {
    let before = IntegratorName::ALL.iter().take_while(|s| **s != scheme);
    before.count() as f64
}

/// A scene whose materials say by name what they say by attribute bits.
pub(crate) fn spelled_out(scene: &Scene) -> Result<Cow<'_, Scene>, SceneError> {
    let mut spelled = Cow::Borrowed(scene);
    for (s, source) in scene.sources.iter().enumerate() {
        let mut file = source.file.clone();
        let mut any = false;
        for (table, index, material) in materials(&mut file) {
            let Some(flags) = material.flags.take() else {
                continue;
            };
            any = true;
            write(material, &flags).map_err(|problem| {
                let at = [
                    table.into(),
                    index.into(),
                    "material".into(),
                    "flags".into(),
                ];
                let at: [Key; 4] = at;
                source.error(&at, problem, "Correct the bits, or say it by name.")
            })?;
        }
        if any {
            spelled.to_mut().sources[s].file = file;
        }
    }
    Ok(spelled)
}

/// All materials of a file: the table, the place there, and what stands there.
fn materials(file: &mut SceneFile) -> Vec<(&'static str, usize, &mut MaterialSpec)> {
    let mut all = Vec::new();
    let organs = file.organ.iter_mut().enumerate();
    all.extend(organs.map(|(i, x)| ("organ", i, &mut x.material)));
    let pipes = file.pipe.iter_mut().enumerate();
    all.extend(pipes.map(|(i, x)| ("pipe", i, &mut x.material)));
    let sheets = file.sheet.iter_mut().enumerate();
    all.extend(sheets.map(|(i, x)| ("sheet", i, &mut x.material)));
    let nets = file.net.iter_mut().enumerate();
    all.extend(nets.map(|(i, x)| ("net", i, &mut x.material)));
    let surfaces = file.surface.iter_mut().enumerate();
    all.extend(surfaces.map(|(i, x)| ("surface", i, &mut x.material)));
    all
}

/// Has a material say by name what bits say.
fn write(material: &mut MaterialSpec, flags: &FlagsSpec) -> Result<(), String> {
    let word = match flags {
        FlagsSpec::Word(word) => *word,
        FlagsSpec::Tokens(tokens) => {
            let bits = tokens.iter().map(|token| Ok(named(token)?.bit));
            bits.collect::<Result<Vec<u32>, String>>()?
                .iter()
                .fold(0, |word, bit| word | bit)
        }
    };
    let word = checked(word)?;
    let usual = material.gravity
        && material.mobile
        && material.touchable
        && material.bends
        && material.on_ground.is_none()
        && material.integrator == IntegratorName::default();
    if !usual {
        return Err(
            "the bits say all of `gravity`, `mobile`, `on_ground`, `touchable`, `bends` and `integrator`; give either"
                .into(),
        );
    }
    for attribute in &ATTRIBUTES {
        let set = word & attribute.bit != 0;
        match attribute.does {
            Does::Choice(name, means) => {
                if let Some(choice) = CHOICES.iter().find(|c| c.name == name) {
                    (choice.write)(material, means[usize::from(set)]);
                }
            }
            Does::SlowMotion if set => return Err(ONE_TIME.into()),
            _ => {}
        }
    }
    material.integrator = scheme(word);
    Ok(())
}

/// Why a single tissue can't have a time of its own.
const ONE_TIME: &str =
    "SLOWMOT is for all tissues together: time passes alike for all (`slow_motion` of the world)";

impl Simulation {
    /// The changes that give tissues other attribute bits: `of` one by its name, or of [`ALL`]; or why they can't have them.
    pub fn flag_changes(&self, of: &str, flags: &Flags) -> Result<Vec<Change>, String> {
        changes(&self.model, &self.parameters, of, flags)
    }

    /// Every tissue that is a net, and its attribute bits as they are now.
    pub fn flag_words(&self) -> impl Iterator<Item = (&str, u32)> {
        let nets = self.model.tissues.iter().filter(|t| is_net(&self.model, t));
        nets.map(|t| (t.name.as_str(), word_of(&self.parameters, &t.name)))
    }
}

fn is_net(model: &Model, tissue: &Tissue) -> bool {
    model.net(tissue.matter).is_some()
}

/// A parameter and where it is in the list.
fn find<'p>(
    parameters: &'p [Parameter],
    group: &str,
    name: &str,
) -> Option<(usize, &'p Parameter)> {
    let mut list = parameters.iter().enumerate();
    list.find(|(_, p)| p.group == group && p.name == name)
}

/// The attribute bits that a tissue has now.
fn word_of(parameters: &[Parameter], group: &str) -> u32 {
    let value = |group: &str, name: &str| find(parameters, group, name).map(|p| p.1.value);
    let set = ATTRIBUTES.iter().filter(|a| match a.does {
        Does::Choice(name, means) => value(group, name) == Some(means[1] as f64),
        Does::Scheme(scheme) => value(group, "integrator") == Some(place(scheme)),
        Does::SlowMotion => value("world", SLOW_MOTION).is_some_and(|factor| factor < 1.0),
        Does::FixedStep => true,
        Does::Drawn => false,
    });
    set.fold(0, |word, a| word | a.bit)
}

/// See [`Simulation::flag_changes`].
pub(crate) fn changes(
    model: &Model,
    parameters: &[Parameter],
    of: &str,
    flags: &Flags,
) -> Result<Vec<Change>, String> {
    let ours = |t: &&Tissue| of == ALL || t.name == of;
    let tissues: Vec<&Tissue> = model.tissues.iter().filter(ours).collect();
    let nets = tissues.iter().filter(|t| is_net(model, t));
    let nets: Vec<&str> = nets.map(|t| t.name.as_str()).collect();
    if nets.is_empty() {
        return Err(match tissues.is_empty() {
            true => format!("there is no tissue called \"{of}\"; \"{ALL}\" means all of them"),
            false => format!("{of} is no nodal net, and has no attribute bits"),
        });
    }
    let mut wishes = Wishes {
        parameters,
        of,
        nets,
        list: Vec::new(),
    };
    match flags {
        Flags::Word(word) => wishes.word(checked(*word)?)?,
        Flags::Token(token, on) => wishes.token(named(token)?, *on)?,
    }
    Ok(wishes.list)
}

/// What flags ask of the time of all, if anything: slow motion on or off.
pub(crate) fn slow_motion(of: &str, flags: &Flags) -> Option<bool> {
    let slower = |a: &Attribute| matches!(a.does, Does::SlowMotion);
    match flags {
        _ if of != ALL => None,
        Flags::Word(word) => {
            let mut slower = ATTRIBUTES.iter().filter(|a| slower(a));
            Some(slower.any(|a| word & a.bit != 0))
        }
        Flags::Token(token, on) => named(token).ok().filter(|a| slower(a)).map(|_| *on),
    }
}

/// Changes of parameters, as they are asked for.
struct Wishes<'a> {
    parameters: &'a [Parameter],
    /// A tissue's name, or [`ALL`].
    of: &'a str,
    /// Whom it is about.
    nets: Vec<&'a str>,
    list: Vec<Change>,
}

impl Wishes<'_> {
    /// Asks for a value, if there is such a parameter.
    fn wish(&mut self, group: &str, name: &str, value: f64) -> bool {
        let found = find(self.parameters, group, name);
        self.list.extend(found.map(|(p, _)| Change {
            parameter: p as u32,
            value,
        }));
        found.is_some()
    }

    fn word(&mut self, word: u32) -> Result<(), String> {
        for attribute in &ATTRIBUTES {
            let set = word & attribute.bit != 0;
            match attribute.does {
                // What a tissue does not have, a word for many says in vain.
                Does::Choice(name, means) => {
                    for net in self.nets.clone() {
                        self.wish(net, name, means[usize::from(set)] as f64);
                    }
                }
                // A word for one tissue that leaves the bit out says nothing of the time of all.
                Does::SlowMotion if set || self.of == ALL => self.slow(set)?,
                _ => {}
            }
        }
        for net in self.nets.clone() {
            self.wish(net, "integrator", place(scheme(word)));
        }
        Ok(())
    }

    fn token(&mut self, attribute: &Attribute, on: bool) -> Result<(), String> {
        let token = attribute.token;
        match attribute.does {
            Does::Drawn => {
                return Err(format!(
                    "{token} says how it is drawn, which whoever looks on chooses"
                ));
            }
            Does::FixedStep if on => {}
            Does::FixedStep => return Err("steps always have a set length (CALC_TIME)".into()),
            Does::SlowMotion => self.slow(on)?,
            Does::Choice(name, means) => {
                for net in self.nets.clone() {
                    if !self.wish(net, name, means[usize::from(on)] as f64) && self.of != ALL {
                        return Err(format!("{net} has nothing that {token} could say"));
                    }
                }
            }
            Does::Scheme(scheme) => {
                for net in self.nets.clone() {
                    let now = find(self.parameters, net, "integrator").map(|p| p.1.value);
                    if on {
                        self.wish(net, "integrator", place(scheme));
                    } else if now == Some(place(scheme)) {
                        self.wish(net, "integrator", place(IntegratorName::default()));
                    }
                }
            }
        }
        Ok(())
    }

    /// Nothing is asked for if time passes so already, by whatever factor.
    fn slow(&mut self, set: bool) -> Result<(), String> {
        let Some((_, time)) = find(self.parameters, "world", SLOW_MOTION) else {
            return Ok(());
        };
        if set == (time.value < 1.0) {
            return Ok(());
        }
        let factor = match (self.of == ALL, set) {
            (false, _) => return Err(ONE_TIME.into()),
            (true, false) => 1.0,
            (true, true) if time.start < 1.0 => time.start,
            (true, true) => {
                return Err(
                    "the scene does not say by what factor: set `slow motion` of the world".into(),
                );
            }
        };
        self.wish("world", SLOW_MOTION, factor);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bits_are_those_of_the_source() {
        for (token, bit) in [
            ("MOVE", 0x10),
            ("GRAV", 0x40),
            ("GROUND", 0x80),
            ("QDYN", 0x100),
            ("CALC_TIME", 0x200),
            ("INTER", 0x400),
            ("SLOWMOT", 0x1000),
            ("CALC_NORM", 0x2000),
            ("CALC_KUHN", 0x4000),
            ("NOBEND", 0x10000),
            ("CALC_I", 0x10_0000),
            ("CALC_II", 0x20_0000),
            ("CALC_III", 0x40_0000),
            ("ELA_COAG_SPARK", 0x80_0000),
        ] {
            assert_eq!(named(token).unwrap().bit, bit);
            let long = format!("ELADYN_{token}");
            assert_eq!(named(&long).unwrap().bit, bit);
        }
        assert!(ATTRIBUTES.is_sorted_by(|a, b| 2 * a.bit == b.bit));
    }

    #[test]
    fn a_word_that_contradicts_itself_or_is_about_pictures_is_refused() {
        assert_eq!(checked(0x2050), Ok(0x2050));
        let said = checked(0x2100).unwrap_err();
        assert!(said.contains("QDYN and CALC_NORM contradict"), "{said}");
        let said = checked(0x2850).unwrap_err();
        assert!(
            said.contains("NURBSDRAW") && said.contains("0x2050"),
            "{said}"
        );
        let said = checked(0x100_0003).unwrap_err();
        assert!(said.contains("0x1000003"), "{said}");
        assert!(named("FLY").is_err());
    }
}
