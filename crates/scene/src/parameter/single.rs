//! Numbers of single things that can be changed while a scene runs (K13): laws, limits and yielding of springs, the ground, elements between
//! things, nodes and elements that a file names one by one, what drives them, and how much of its force a copy gives back.
//!
//! They are read and written in the files that the scene was made of; what follows from a file is then made anew. What a file leaves out is
//! not there to be changed: a spring without `yields` can't be made to yield, but one with it can be made to yield never.

use super::{Range, material::LAWS, of_law};
use crate::{
    file::{
        ActiveSpec, AnswerSpec, CentreSpec, EditSpec, InertiaSpec, LawSpec, MaterialSpec, NodeName,
        Select, YieldSpec,
    },
    load::Scene,
};

/// The greatest finite limit of a force, N. A parameter that stands there means none.
pub(super) const UNLIMITED: f64 = 1000.0;

const AXES: [&str; 3] = ["x", "y", "z"];

/// What has to be made anew after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Touches {
    /// A tissue, by its number.
    Tissue(usize),
    /// The height of a tissue's ground.
    Ground(usize),
    /// An element between things, by its number.
    Element(usize),
    /// Copies of nodes, by the number of their couple.
    Couple(usize),
    /// Whatever a signal drives, by its number.
    Signal(usize),
    /// What of a tissue can be touched, by its number.
    Skin(usize),
}

/// Where a number stands.
pub(super) enum Place<'a> {
    /// As it is.
    Number(&'a mut f64),
    /// A limit of a force, N.
    Limit(&'a mut f64),
    /// Linear or quadratic.
    Law(&'a mut LawSpec),
    /// No or yes.
    Yes(&'a mut bool),
    /// A mark.
    Mark(&'a mut u16),
    /// Attribute bits of a node.
    Bits(&'a mut u32),
}

impl Place<'_> {
    pub fn read(&self) -> f64 {
        match self {
            Self::Number(x) => **x,
            Self::Limit(x) => x.min(UNLIMITED),
            Self::Law(law) => f64::from(u8::from(**law == LawSpec::Quadratic)),
            Self::Yes(yes) => f64::from(u8::from(**yes)),
            Self::Mark(mark) => f64::from(**mark),
            Self::Bits(bits) => f64::from(**bits),
        }
    }

    /// What its values 0, 1 … mean, if it is one of a few.
    pub fn choices(&self) -> &'static [&'static str] {
        match self {
            Self::Law(_) => LAWS,
            Self::Yes(_) => &["no", "yes"],
            Self::Number(_) | Self::Limit(_) | Self::Mark(_) | Self::Bits(_) => &[],
        }
    }

    pub fn write(&mut self, value: f64) {
        match self {
            Self::Number(x) => **x = value,
            Self::Limit(x) => {
                **x = if value < UNLIMITED {
                    value
                } else {
                    f64::INFINITY
                }
            }
            Self::Law(law) => {
                **law = if value == 0.0 {
                    LawSpec::Linear
                } else {
                    LawSpec::Quadratic
                }
            }
            Self::Yes(yes) => **yes = value != 0.0,
            Self::Mark(mark) => **mark = value as u16,
            Self::Bits(bits) => **bits = value as u32,
        }
    }
}

/// When a number came to be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rank {
    /// At first.
    First,
    /// With marks.
    Second,
    /// With places.
    Third,
}

/// A number, and all that is said of it.
pub(super) struct Single<'a> {
    pub group: String,
    pub name: String,
    pub unit: &'static str,
    pub about: &'static str,
    pub range: Range,
    pub touches: Touches,
    /// Listed after all that was there before, so that the numbers by which older snapshots and recordings name parameters stay what they were: later ones after
    /// earlier ones.
    pub rank: Rank,
    /// Not listed at all.
    pub hidden: bool,
    pub place: Place<'a>,
}

/// Whoever is shown every number.
type Visitor<'v> = &'v mut dyn FnMut(Single<'_>);

/// Shows all numbers of a scene, always in the same order.
pub(super) fn visit(scene: &mut Scene, visitor: Visitor<'_>) {
    let mut tissue = 0;
    let mut show = |name: &str,
                    material: &mut MaterialSpec,
                    edit: &mut EditSpec,
                    fixed: &mut [Select],
                    more: &mut dyn FnMut(&mut Shown<'_>)| {
        let mut on = Shown {
            visitor: &mut *visitor,
            group: name.into(),
            touches: Touches::Tissue(tissue),
            rank: Rank::First,
            hidden: false,
        };
        on.material(material, tissue);
        on.edit(edit);
        on.marks(edit, tissue);
        on.places(edit, fixed);
        more(&mut on);
        tissue += 1;
    };
    // In the order in which tissues are counted: kind by kind.
    for s in &mut scene.sources {
        for x in &mut s.file.organ {
            let fixed = &mut x.fixed;
            show(&x.name, &mut x.material, &mut x.edit, fixed, &mut |_| {});
        }
    }
    for s in &mut scene.sources {
        for x in &mut s.file.pipe {
            let fixed = &mut x.fixed;
            show(&x.name, &mut x.material, &mut x.edit, fixed, &mut |_| {});
        }
    }
    for s in &mut scene.sources {
        for x in &mut s.file.sheet {
            let fixed = &mut x.fixed;
            show(&x.name, &mut x.material, &mut x.edit, fixed, &mut |_| {});
        }
    }
    for s in &mut scene.sources {
        for x in &mut s.file.net {
            let (centres, fixed) = (&mut x.centres, &mut x.fixed);
            show(&x.name, &mut x.material, &mut x.edit, fixed, &mut |on| {
                on.centres("own centre", centres)
            });
        }
    }
    for s in &mut scene.sources {
        for x in &mut s.file.surface {
            let mut weight = [x.surface_density, x.density];
            let fixed = &mut x.fixed;
            show(&x.name, &mut x.material, &mut x.edit, fixed, &mut |on| {
                on.densities(&mut weight)
            });
            [x.surface_density, x.density] = weight;
        }
    }
    let elements = scene.sources.iter_mut().flat_map(|s| &mut s.file.element);
    for (i, element) in elements.enumerate() {
        let mut on = Shown {
            visitor: &mut *visitor,
            group: format!("element {i}"),
            touches: Touches::Element(i),
            rank: Rank::First,
            hidden: false,
        };
        if let Some(answer) = &mut element.answer {
            on.answer("", answer);
            on.lengths("", element.rest_length.as_mut(), &mut element.shorten);
            on.drive("", element.drive.as_mut());
        }
        if let Some(stiffness) = &mut element.bend {
            on.bend("bend stiffness", stiffness);
        }
        if let Some(stiffness) = &mut element.torsion {
            on.torsion("torsion stiffness", stiffness);
        }
    }
    let films = scene.sources.iter().flat_map(|s| &s.file.membrane);
    let films: Vec<String> = films.map(|m| m.name.clone()).collect();
    let couples = scene.sources.iter_mut().flat_map(|s| &mut s.file.couple);
    for (i, couple) in couples.enumerate() {
        let names = [&couple.master.tissue, &couple.slave.tissue].into_iter();
        let tied = names.flatten().any(|name| films.contains(name));
        let copies = couple.master.body.is_none() && couple.master.world.is_none() && !tied;
        if copies && couple.slave.centres.is_none() {
            let mut on = Shown {
                visitor: &mut *visitor,
                group: format!("couple {i}"),
                touches: Touches::Couple(i),
                rank: Rank::First,
                hidden: false,
            };
            let about = "How much of their force the copies give back; below 1 momentum is lost.";
            let place = Place::Number(&mut couple.force_factor);
            on.show("force factor".into(), "", about, Range::Within(1.0), place);
        }
    }
    let signals = scene.sources.iter_mut().flat_map(|s| &mut s.file.signal);
    for (i, signal) in signals.enumerate() {
        let mut on = Shown {
            visitor: &mut *visitor,
            group: format!("signal {}", signal.name),
            touches: Touches::Signal(i),
            rank: Rank::First,
            hidden: false,
        };
        on.signal(signal);
    }
}

/// All values, in the order in which they are shown.
pub(crate) fn values(scene: &mut Scene) -> Vec<f64> {
    let mut values = Vec::new();
    visit(scene, &mut |single| values.push(single.place.read()));
    values
}

/// Writes some of them, by their places in that order; or says why one can't be so.
pub(crate) fn write(scene: &mut Scene, wanted: &[(usize, f64, Touches)]) -> Result<(), String> {
    if wanted.is_empty() {
        return Ok(());
    }
    let (mut k, mut done) = (0, Ok(()));
    visit(scene, &mut |mut single| {
        if let Some(w) = wanted.iter().find(|w| w.0 == k) {
            single.place.write(w.1);
            if matches!(single.place, Place::Mark(_) | Place::Bits(_)) && single.place.read() != w.1
            {
                done = Err("it is a whole number".into());
            }
        }
        k += 1;
    });
    done
}

/// What a node is called.
fn title(node: &NodeName) -> String {
    match node {
        NodeName::Surface(n) => format!("node {n}"),
        NodeName::Central(c) => format!("centre {}", c.centre),
    }
}

/// A visitor and what the numbers shown to it belong to.
struct Shown<'v> {
    visitor: Visitor<'v>,
    group: String,
    touches: Touches,
    rank: Rank,
    hidden: bool,
}

impl Shown<'_> {
    fn show(
        &mut self,
        name: String,
        unit: &'static str,
        about: &'static str,
        range: Range,
        place: Place<'_>,
    ) {
        (self.visitor)(Single {
            group: self.group.clone(),
            name,
            unit,
            about,
            range,
            touches: self.touches,
            rank: self.rank,
            hidden: self.hidden,
            place,
        });
    }

    /// What a material has beside its plain numbers.
    fn material(&mut self, material: &mut MaterialSpec, tissue: usize) {
        let about = "How springs between surface nodes grow; their constant counts in N/m or N/m².";
        let law = Place::Law(&mut material.law);
        self.show("law".into(), "", about, Range::Choice, law);
        self.limits("", &mut material.limit);
        self.yields("", material.yields.as_mut());
        if let Some([sticking, sliding]) = &mut material.friction {
            for (name, about, x) in [
                (
                    "static friction",
                    "How it sticks to what touches it; at least that of sliding.",
                    sticking,
                ),
                (
                    "sliding friction",
                    "How it rubs on what slides along it.",
                    sliding,
                ),
            ] {
                let range = Range::Within(2.0);
                self.show(name.into(), "", about, range, Place::Number(x));
            }
        }
        if let Some(ground) = &mut material.ground {
            self.touches = Touches::Ground(tissue);
            let about = "Height below which none of its nodes goes.";
            let place = Place::Number(ground);
            self.show("ground".into(), "m", about, Range::Around(0.1), place);
            self.touches = Touches::Tissue(tissue);
        }
    }

    fn limits(&mut self, prefix: &str, [push, pull]: &mut [f64; 2]) {
        for (what, limit, about) in [
            ("greatest push", push, "Greatest push, N; 1000 is none."),
            ("greatest pull", pull, "Greatest pull, N; 1000 is none."),
        ] {
            // A limit that is finite and beyond would be mistaken for none.
            if *limit < UNLIMITED || limit.is_infinite() {
                let (name, range) = (format!("{prefix}{what}"), Range::Within(UNLIMITED));
                self.show(name, "N", about, range, Place::Limit(limit));
            }
        }
    }

    fn yields(&mut self, prefix: &str, spec: Option<&mut YieldSpec>) {
        let Some(spec) = spec else { return };
        for (what, place, range, about) in [
            (
                "yield strain",
                &mut spec.strain,
                Range::Within(10.0),
                "Strain at which it begins to yield; 10 is hardly ever.",
            ),
            (
                "yield hardening",
                &mut spec.hardening,
                Range::Within(4.0),
                "How much it hardens as it flows.",
            ),
            (
                "yield most",
                &mut spec.most,
                Range::Within(0.95),
                "So much of its rest length it flows at most.",
            ),
        ] {
            let name = format!("{prefix}{what}");
            self.show(name, "", about, range, Place::Number(place));
        }
    }

    fn answer(&mut self, prefix: &str, answer: &mut AnswerSpec) {
        if answer.bits.is_some() {
            // The bits say all else.
            for (what, about, range, place) in [
                (
                    "constant",
                    "The element's constant.",
                    Range::UpTo(100.0),
                    &mut answer.constant,
                ),
                (
                    "parameter",
                    "Its dead zone (m, m/s) or limit (N).",
                    Range::UpTo(0.005),
                    &mut answer.parameter,
                ),
            ] {
                if let Some(x) = place {
                    let name = format!("{prefix}{what}");
                    self.show(name, "", about, range, Place::Number(x));
                }
            }
            self.yields(prefix, answer.yields.as_mut());
            return;
        }
        let law = answer.law;
        if let Some(stiffness) = &mut answer.stiffness {
            let (name, about) = (format!("{prefix}stiffness"), "The spring's constant.");
            let place = Place::Number(stiffness);
            self.show(name, of_law(law), about, Range::UpTo(100.0), place);
        }
        if let Some(damping) = &mut answer.damping {
            let unit = match law {
                LawSpec::Linear => "N·s/m",
                LawSpec::Quadratic => "N·s²/m²",
            };
            let (name, about) = (format!("{prefix}damping"), "The damper's constant.");
            self.show(name, unit, about, Range::UpTo(1.0), Place::Number(damping));
        }
        let about = "How it grows; its constant changes its unit with it.";
        let place = Place::Law(&mut answer.law);
        self.show(format!("{prefix}law"), "", about, Range::Choice, place);
        self.limits(prefix, &mut answer.limit);
        self.yields(prefix, answer.yields.as_mut());
        if !answer.pieces.is_empty() {
            // Pieces stand in the place of gains and dead zones.
            for (k, [at, gives]) in answer.pieces.iter_mut().enumerate() {
                let range = Range::Around(0.05);
                let name = format!("{prefix}piece {k} at");
                let about = "Stretch at this point of the transform.";
                self.show(name, "", about, range, Place::Number(at));
                let name = format!("{prefix}piece {k} gives");
                let about = "What the law is given there.";
                self.show(name, "", about, range, Place::Number(gives));
            }
            return;
        }
        for (k, side) in ["shorter", "longer"].into_iter().enumerate() {
            let name = format!("{prefix}gain when {side}");
            let about = "Gain of the input on this side.";
            let place = Place::Number(&mut answer.gain[k]);
            self.show(name, "", about, Range::Within(4.0), place);
            let name = format!("{prefix}dead when {side}");
            let about = "Dead zone on this side, m of a spring or m/s of a damper.";
            let place = Place::Number(&mut answer.dead[k]);
            self.show(name, "", about, Range::UpTo(0.005), place);
        }
    }

    fn lengths(&mut self, prefix: &str, rest: Option<&mut f64>, shorten: &mut f64) {
        if let Some(rest) = rest {
            let (name, about) = (format!("{prefix}rest length"), "Its length at rest.");
            self.show(name, "m", about, Range::Tenfold, Place::Number(rest));
        }
        let about = "By what part it is shorter at rest: pre-tension.";
        let place = Place::Number(shorten);
        self.show(
            format!("{prefix}shorten"),
            "",
            about,
            Range::Within(0.95),
            place,
        );
    }

    fn drive(&mut self, prefix: &str, drive: Option<&mut ActiveSpec>) {
        let Some(drive) = drive else { return };
        if let Some(force) = &mut drive.force {
            let about = "Tension for each unit of its signal.";
            let (name, place) = (format!("{prefix}drive force"), Place::Number(force));
            self.show(name, "N", about, Range::Either(1.0), place);
        }
        if let Some(length) = &mut drive.length {
            let about = "By what part its rest length grows for each unit of its signal.";
            let (name, place) = (format!("{prefix}drive length"), Place::Number(length));
            self.show(name, "", about, Range::Around(0.5), place);
        }
        if let Some(stiffness) = &mut drive.stiffness {
            let about = "By what part its constant grows for each unit of its signal.";
            let (name, place) = (format!("{prefix}drive stiffness"), Place::Number(stiffness));
            self.show(name, "", about, Range::Either(1.0), place);
        }
    }

    /// Nodes and elements that a tissue names one by one.
    fn edit(&mut self, edit: &mut EditSpec) {
        for node in &mut edit.nodes {
            let title = title(&node.node);
            for (what, unit, range, place) in [
                ("mass", "kg", Range::Tenfold, &mut node.mass),
                ("damping", "N·s/m", Range::UpTo(1.0), &mut node.damping),
                ("memory", "", Range::UpTo(100.0), &mut node.memory),
                (
                    "turn damping",
                    "N·m·s/rad",
                    Range::UpTo(5e-3),
                    &mut node.turn_damping,
                ),
            ] {
                if let Some(x) = place {
                    let (name, place) = (format!("{title} {what}"), Place::Number(x));
                    self.show(name, unit, "A node that the file names.", range, place);
                }
            }
            if let Some(law) = &mut node.memory_law {
                let (name, about) = (format!("{title} memory law"), "How its shape memory grows.");
                self.show(name, "", about, Range::Choice, Place::Law(law));
            }
            if let Some(InertiaSpec::Moments(moments)) = &mut node.inertia {
                self.moments(&title, moments);
            }
            let axes = node.axes.iter_mut().flatten();
            for (axis, gain) in AXES.into_iter().zip(axes) {
                let name = format!("{title} free along {axis}");
                let about = "How freely it moves along this axis of its tissue: 0 is locked.";
                self.show(name, "", about, Range::Within(1.0), Place::Number(gain));
            }
        }
        self.centres("added centre", &mut edit.add_centres);
        for (i, node) in edit.add_nodes.iter_mut().enumerate() {
            let about = "A node that the file adds.";
            let name = format!("added node {i} memory");
            let place = Place::Number(&mut node.memory);
            self.show(name, "", about, Range::UpTo(100.0), place);
            if let Some(mass) = &mut node.mass {
                let (name, place) = (format!("added node {i} mass"), Place::Number(mass));
                self.show(name, "kg", about, Range::Tenfold, place);
            }
            if let Some(damping) = &mut node.damping {
                let (name, place) = (format!("added node {i} damping"), Place::Number(damping));
                self.show(name, "N·s/m", about, Range::UpTo(1.0), place);
            }
        }
        for (i, element) in edit.elements.iter_mut().enumerate() {
            let prefix = format!("element {i} ");
            self.answer(&prefix, &mut element.answer);
            self.lengths(&prefix, element.rest_length.as_mut(), &mut element.shorten);
            self.drive(&prefix, element.drive.as_mut());
        }
        for (i, bend) in edit.bends.iter_mut().enumerate() {
            self.bend(&format!("bend {i} stiffness"), &mut bend.stiffness);
        }
        for (i, torsion) in edit.torsions.iter_mut().enumerate() {
            self.torsion(&format!("torsion {i} stiffness"), &mut torsion.stiffness);
        }
        for (i, driven) in edit.driven.iter_mut().enumerate() {
            self.drive(&format!("driven {i} "), Some(&mut driven.drive));
        }
    }

    fn bend(&mut self, name: &str, stiffness: &mut f64) {
        let place = Place::Number(stiffness);
        let about = "What keeps an angle.";
        self.show(name.into(), "N/rad", about, Range::UpTo(0.1), place);
    }

    fn torsion(&mut self, name: &str, stiffness: &mut f64) {
        let place = Place::Number(stiffness);
        let about = "What turns a central node or a body back.";
        self.show(name.into(), "N·m/rad", about, Range::UpTo(0.1), place);
    }

    /// What nodes that a tissue names are marked as (K26).
    fn marks(&mut self, edit: &mut EditSpec, tissue: usize) {
        (self.rank, self.touches) = (Rank::Second, Touches::Skin(tissue));
        for node in &mut edit.nodes {
            let title = title(&node.node);
            if let Some(touchable) = &mut node.touchable {
                let about = "Instruments and bodies touch the triangles at it.";
                let (name, place) = (format!("{title} touchable"), Place::Yes(touchable));
                self.show(name, "", about, Range::Choice, place);
            }
            let named = [
                ("cut mark", "It is marked for cutting.", &mut node.cut_mark),
                ("clipped", "A clip is on it.", &mut node.clipped),
                ("cut", "A cut goes part of the way there.", &mut node.cut),
                (
                    "divided",
                    "A cut goes all the way there.",
                    &mut node.divided,
                ),
                ("coagulated", "It was coagulated.", &mut node.coagulated),
            ];
            for (name, about, on) in named {
                if let Some(on) = on {
                    let name = format!("{title} {name}");
                    self.show(name, "", about, Range::Choice, Place::Yes(on));
                }
            }
            if let Some(mark) = &mut node.mark {
                let about = "The mark that rules of behaviour refer to, a whole number.";
                let range = Range::Within(f64::from(u16::MAX));
                self.show(format!("{title} mark"), "", about, range, Place::Mark(mark));
            }
            if let Some(bits) = &mut node.bits {
                let about = "Its attribute bits: 2 clipped, 4 cut, 8 divided, 2048 cut mark, 4096 not touchable, 8192 coagulated, 65536 and above the mark.";
                let range = Range::Within(f64::from(u32::MAX));
                self.show(format!("{title} bits"), "", about, range, Place::Bits(bits));
            }
        }
        (self.rank, self.touches) = (Rank::First, Touches::Tissue(tissue));
    }

    /// Where shape memory draws nodes that a tissue names (K25), and how freely those move that it holds along some axes only (K24).
    fn places(&mut self, edit: &mut EditSpec, fixed: &mut [Select]) {
        self.rank = Rank::Third;
        for node in &mut edit.nodes {
            let title = title(&node.node);
            for (axis, place) in AXES.into_iter().zip(node.base.iter_mut().flatten()) {
                let name = format!("{title} memory at {axis}");
                let about = "Where its shape memory draws it, in its tissue's own frame.";
                self.show(name, "m", about, Range::Around(0.05), Place::Number(place));
            }
        }
        for (i, select) in fixed.iter_mut().enumerate() {
            // What the file fixes altogether is fixed; more sliders would hide the others. They are counted all the same: numbers must not depend on values.
            self.hidden = select.axes == [0.0; 3];
            for (axis, gain) in AXES.into_iter().zip(&mut select.axes) {
                let name = format!("fixed {i} free along {axis}");
                let about =
                    "How freely these nodes move along this axis of their tissue: 0 is locked.";
                self.show(name, "", about, Range::Within(1.0), Place::Number(gain));
            }
            self.hidden = false;
        }
        self.rank = Rank::First;
    }

    fn moments(&mut self, title: &str, moments: &mut [f64; 3]) {
        for (axis, moment) in AXES.into_iter().zip(moments) {
            let name = format!("{title} moment about {axis}");
            let about = "What resists its turning about this axis of its own.";
            self.show(name, "kg·m²", about, Range::Tenfold, Place::Number(moment));
        }
    }

    /// Central nodes that a file names one by one.
    fn centres(&mut self, called: &str, centres: &mut [CentreSpec]) {
        for (i, centre) in centres.iter_mut().enumerate() {
            let title = format!("{called} {i}");
            let about = "A central node that the file names.";
            if let Some(mass) = &mut centre.mass {
                let (name, place) = (format!("{title} mass"), Place::Number(mass));
                self.show(name, "kg", about, Range::Tenfold, place);
            }
            let (name, place) = (format!("{title} memory"), Place::Number(&mut centre.memory));
            self.show(name, "", about, Range::UpTo(100.0), place);
            if let Some(moments) = &mut centre.inertia {
                self.moments(&title, moments);
            }
        }
    }

    /// What a mesh weighs.
    fn densities(&mut self, [surface, volume]: &mut [Option<f64>; 2]) {
        for (name, unit, place) in [
            ("surface density", "kg/m²", surface),
            ("density", "kg/m³", volume),
        ] {
            if let Some(x) = place {
                let about = "What its nodes weigh by their share of it.";
                self.show(name.into(), unit, about, Range::Tenfold, Place::Number(x));
            }
        }
    }

    fn signal(&mut self, signal: &mut crate::file::SignalSpec) {
        let about = "A number of the function of time that drives elements.";
        if let Some(sine) = &mut signal.sine {
            for (name, unit, range, place) in [
                ("mean", "", Range::Either(1.0), &mut sine.mean),
                ("amplitude", "", Range::Either(1.0), &mut sine.amplitude),
                ("rate", "Hz", Range::UpTo(10.0), &mut sine.rate),
                ("phase", "", Range::Around(1.0), &mut sine.phase),
            ] {
                self.show(name.into(), unit, about, range, Place::Number(place));
            }
        }
        if let Some(pulse) = &mut signal.pulse {
            for (name, range, place) in [
                ("start", Range::UpTo(1.0), &mut pulse.start),
                ("period", Range::Tenfold, &mut pulse.period),
                ("rise", Range::Tenfold, &mut pulse.rise),
                ("hold", Range::UpTo(0.5), &mut pulse.hold),
                ("fall", Range::Tenfold, &mut pulse.fall),
            ] {
                self.show(name.into(), "s", about, range, Place::Number(place));
            }
        }
        for (k, [_, value]) in signal.table.iter_mut().enumerate() {
            let name = format!("value {k}");
            self.show(name, "", about, Range::Either(1.0), Place::Number(value));
        }
        self.rank = Rank::Second;
        for (k, [time, _]) in signal.table.iter_mut().enumerate() {
            let (name, about) = (format!("time {k}"), "When it has this value; times ascend.");
            let reach = Range::Around(time.abs().max(1.0));
            self.show(name, "s", about, reach, Place::Number(time));
        }
        self.rank = Rank::First;
    }
}
