//! Edits as a string of bytes says, and everything a sheet promises checked after each: for tests, which make the bytes from dice, and for fuzzers, which
//! make them as they like.

use super::event::at;
use super::{
    Edit, Event, Followed, Kind, Refusal, Sheet, SheetAnchor, SheetError, TriangleId, area,
};
use crate::primitive::{HexagonalShape, SheetShape, TubeShape};
use crate::surface::Surface;
use glam::{DVec2, DVec3};

/// Kinds of edit that are tried.
pub const EDITS: usize = 10;

/// Points that live on the sheet while it is edited.
const ANCHORS: usize = 100;

/// About the longest edge of the curved surface, m.
const EDGE: f64 = 0.3;

/// A sheet with more triangles or pieces than this is begun anew.
const MOST: [usize; 2] = [250, 20];

/// Decisions, taken from bytes; zeros when these are used up.
#[derive(Clone, Copy, Debug)]
pub struct Choices<'a> {
    bytes: &'a [u8],
}

impl<'a> Choices<'a> {
    /// Those that `bytes` say.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// Whether all bytes are used up.
    pub fn is_over(&self) -> bool {
        self.bytes.is_empty()
    }

    fn number(&mut self) -> u16 {
        let (now, rest) = self.bytes.split_at(self.bytes.len().min(2));
        self.bytes = rest;
        now.iter().fold(0, |sum, b| sum << 8 | u16::from(*b))
    }

    /// Below `n`, or 0.
    pub fn below(&mut self, n: usize) -> usize {
        usize::from(self.number()) % n.max(1)
    }

    /// From 0 up to 1, which is included as well.
    fn part(&mut self) -> f64 {
        f64::from(self.number()) / f64::from(u16::MAX)
    }

    fn weights(&mut self) -> [f64; 3] {
        let all = [(); 3].map(|()| 0.02 + self.part());
        let sum: f64 = all.iter().sum();
        all.map(|w| w / sum)
    }

    fn one<T>(&mut self, of: impl Iterator<Item = T> + Clone) -> Option<T> {
        let count = of.clone().count();
        of.clone().nth(self.below(count))
    }
}

/// One edit of a kind below [`EDITS`], on parts that are chosen.
pub fn attempt(choices: &mut Choices<'_>, edit: &mut Edit<'_>, kind: usize) -> Result<(), Refusal> {
    let sheet = edit.sheet();
    let node = (0..sheet.node_slots()).filter(|n| sheet.has_live_node(*n));
    let edge = (0..sheet.edge_slots()).filter(|e| sheet.has_edge(sheet.edge_at(*e)));
    let triangle =
        (0..sheet.triangle_slots()).filter(|t| sheet.has_triangle(sheet.triangle_at(*t)));
    let parts = (choices.one(node), choices.one(edge), choices.one(triangle));
    let (Some(node), Some(edge), Some(triangle)) = parts else {
        return Err(Refusal::OutOfRange);
    };
    let node = sheet.node_at(node);
    let (edge, triangle) = (sheet.edge_at(edge), sheet.triangle_at(triangle));
    match kind {
        0 => edit.split_edge(edge, choices.part()).map(|_| ()),
        1 => edit.subdivide(triangle, choices.weights()).map(|_| ()),
        2 => {
            // Mostly into a triangle of its own, where it has a chance.
            let around: Vec<_> = sheet.triangles_around(node).collect();
            let own = around[choices.below(around.len())];
            let into = if choices.below(8) == 0 { triangle } else { own };
            edit.snap(node, into, choices.weights())
        }
        3 => {
            let around: Vec<_> = sheet.edges_around(node).collect();
            let (edge, _) = around[choices.below(around.len())];
            edit.move_along(node, edge, choices.part())
        }
        4 | 5 => {
            let [a, b] = sheet.ends(edge);
            let (gone, keep) = if choices.below(2) == 0 {
                (a, b)
            } else {
                (b, a)
            };
            edit.collapse(gone, keep)
        }
        6 => edit.flip(edge).map(|_| ()),
        7 => edit.open(edge),
        8 => {
            let spokes: Vec<_> = sheet.edges_around(node).map(|e| e.0).collect();
            let one = spokes[choices.below(spokes.len())];
            edit.split_node(node, [one, spokes[choices.below(spokes.len())]])
        }
        // Seldom, or nothing would be left.
        _ if choices.below(8) == 0 => edit.remove(triangle),
        _ => Err(Refusal::OutOfRange),
    }
}

/// What came of a trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Edits of each kind that were done.
    pub done: [usize; EDITS],
    /// Edits of each kind that were refused or taken back.
    pub refused: [usize; EDITS],
}

/// What is watched while a sheet is edited.
struct Watch {
    sheet: Sheet,
    /// Whether it is flat: then what it covers stays to the last digit, and whatever is linear in rest positions stays so.
    flat: bool,
    positions: Vec<DVec3>,
    anchors: Vec<(SheetAnchor, DVec3)>,
    area: f64,
}

/// Positions in space: a shear, so that they follow linearly from the rest positions.
fn space(p: DVec3) -> DVec3 {
    DVec3::new(p.x, p.y + 0.5 * p.x, 2.0 * p.x - p.y)
}

fn texture(p: DVec3) -> DVec2 {
    DVec2::new(2.0 * p.x - 1.0, 3.0 * p.y)
}

fn attributes(p: DVec3) -> [f64; 4] {
    [p.x + p.y, 4.0 - p.x, 0.0, 1.0]
}

impl Watch {
    fn new(choices: &mut Choices<'_>, surface: &Surface, flat: bool) -> Result<Self, SheetError> {
        let mut sheet = Sheet::new(surface)?;
        let places = || surface.positions.iter().copied();
        sheet.set_textures(&places().map(texture).collect::<Vec<_>>())?;
        sheet.set_attributes(&places().map(attributes).collect::<Vec<_>>())?;
        sheet.set_least_quality(if flat { 1e-4 } else { 1e-3 });
        let anchors = (0..ANCHORS).map(|_| {
            let triangle = sheet.triangle_at(choices.below(sheet.triangle_slots()));
            let weights = choices.weights();
            let rest = at(sheet.rest_corners(triangle), weights);
            (SheetAnchor { triangle, weights }, rest)
        });
        Ok(Self {
            anchors: anchors.collect(),
            positions: places().map(space).collect(),
            area: sheet.rest_area(),
            flat,
            sheet,
        })
    }

    /// One transaction; true if it was done, or what was broken by it.
    fn step(
        &mut self,
        choices: &mut Choices<'_>,
        event: &mut Event,
        kind: usize,
    ) -> Result<bool, String> {
        let before = self.sheet.clone();
        // Some transactions are given up after their work is done.
        let give_up = choices.below(6) == 0;
        let mut removed: Option<(TriangleId, f64)> = None;
        let result = self.sheet.edit(event, |edit| {
            attempt(choices, edit, kind)?;
            if give_up {
                return Err(Refusal::OutOfRange);
            }
            if kind + 1 == EDITS {
                let gone = before.triangles().find(|t| !edit.sheet().has_triangle(*t));
                removed = gone.map(|t| (t, area(before.rest_corners(t))));
            }
            Ok(())
        });
        match result {
            Err(Refusal::Broken(fault)) => return Err(format!("it broke the sheet: {fault}")),
            Err(_) if self.sheet != before => return Err("it was not taken back".into()),
            Err(_) if !event.is_empty() => return Err("it tells of what did not happen".into()),
            Err(_) => return Ok(false),
            Ok(()) => {}
        }
        self.sheet.check().map_err(|fault| fault.to_string())?;
        demand(
            self.sheet.version() == before.version() + 1,
            "the version did not rise",
        )?;
        if let Some((_, less)) = removed {
            self.area -= less;
        } else {
            self.kinds_stay(&before, kind)?;
        }
        self.follow(event, removed.map(|r| r.0))
    }

    /// Only an opening makes or ends tips; all other edits leave every node what it was.
    fn kinds_stay(&self, before: &Sheet, kind: usize) -> Result<(), String> {
        if (7..=8).contains(&kind) {
            return Ok(());
        }
        let took_over = kind == 4 || kind == 5;
        for node in before.nodes() {
            let (was, now) = (before.kind(node), self.sheet.kind(node));
            let stays = now == was || now.is_none() || (took_over && was == Some(Kind::Inner));
            demand(stays, "a node is another kind than before")?;
        }
        Ok(())
    }

    /// Lets everything follow an edit, and says what did not.
    fn follow(&mut self, event: &Event, removed: Option<TriangleId>) -> Result<bool, String> {
        let Self {
            sheet,
            positions,
            anchors,
            ..
        } = self;
        event.carry(sheet, positions, DVec3::ZERO);
        let mut lost = Ok(());
        anchors.retain_mut(|(anchor, rest)| {
            let on_it = removed == Some(anchor.triangle);
            let followed = event.follow(sheet, anchor);
            if (followed == Followed::Lost) != on_it {
                lost = Err(format!("an anchor at {rest} is {followed:?}"));
            }
            let place = anchor.rest(sheet);
            // On a curved surface flips change the shape a little: an anchor stays on the sheet, by less than an edge from where it was before.
            let near = if self.flat { 1e-8 } else { EDGE };
            if !on_it && place.is_none_or(|p| p.distance(*rest) > near) {
                lost = Err(format!("an anchor went from {rest} to {place:?}"));
            }
            if let Some(place) = place.filter(|_| !self.flat) {
                *rest = place;
            }
            !on_it
        });
        lost?;
        if !self.flat {
            return Ok(true);
        }
        let off = (sheet.rest_area() - self.area).abs();
        demand(off < 1e-9, "it covers another area at rest")?;
        for node in sheet.nodes() {
            let rest = sheet.rest(node);
            let follows = positions[node.slot()].distance(space(rest)) < 1e-9
                && sheet.texture(node).distance(texture(rest)) < 1e-9
                && sheet
                    .attributes(node)
                    .iter()
                    .zip(attributes(rest))
                    .all(|(a, b)| (a - b).abs() < 1e-9);
            demand(follows, "what a node carries did not follow")?;
        }
        Ok(true)
    }
}

fn demand(holds: bool, what: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what.into()) }
}

/// The surface that a trial begins with: a square, a hexagonal one, or a closed tube; and whether it is flat.
fn surface(which: usize) -> Option<(Surface, bool)> {
    let square = SheetShape {
        origin: DVec3::ZERO,
        u: DVec3::X,
        v: DVec3::Y,
        rows: 6,
        columns: 6,
    };
    let hexagonal = HexagonalShape {
        rows: 6,
        columns: 5,
        edge: 0.2,
    };
    let tube = || TubeShape {
        path: vec![DVec3::ZERO, DVec3::new(0.2, 0.0, 0.5), DVec3::Z],
        radii: vec![[0.2, 0.2], [0.3, 0.25], [0.2, 0.2]],
        up: DVec3::Y,
        rings: 6,
        around: 8,
    };
    match which {
        0 => Some((square.surface().ok()?, true)),
        1 => Some((hexagonal.surface().ok()?, true)),
        _ => Some((tube().organ().ok()?.surface, false)),
    }
}

/// Edits a sheet as `bytes` say, and checks after every edit that its invariants hold (W42–W45, W112), that it covers what it covered (W80), that what was refused or given up
/// left every bit as it was, and that positions, texture, numbers and a hundred anchors follow. What was broken, and at which edit, comes back as an error.
pub fn trial(bytes: &[u8]) -> Result<Tally, String> {
    let mut choices = Choices::new(bytes);
    let Some((surface, flat)) = surface(choices.below(3)) else {
        return Err("the surface can't be made".into());
    };
    let begin = |choices: &mut Choices<'_>| {
        Watch::new(choices, &surface, flat).map_err(|why| why.to_string())
    };
    let mut watch = begin(&mut choices)?;
    let (mut event, mut tally) = (Event::default(), Tally::default());
    let mut edits = 0_usize;
    while !choices.is_over() {
        let sheet = &watch.sheet;
        let (count, pieces) = (sheet.triangle_count(), sheet.pieces());
        if count == 0 || count > MOST[0] || pieces > MOST[1] {
            // Torn and cut to shreds; begin again.
            watch = begin(&mut choices)?;
        }
        let kind = choices.below(EDITS);
        let done = watch.step(&mut choices, &mut event, kind);
        let done = done.map_err(|what| format!("edit {edits}, of kind {kind}: {what}"))?;
        let counts = if done {
            &mut tally.done
        } else {
            &mut tally.refused
        };
        counts[kind] += 1;
        edits += 1;
    }
    Ok(tally)
}
