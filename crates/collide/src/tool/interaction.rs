//! Kuhn's test of an instrument on the nodes of a tissue as a whole (K89–K105): three levels of geometry, plausibility by region, and what goes on
//! from step to step. To compare with; see [`kuhn`](super::kuhn) for its parts.

use super::kuhn::{
    NORMAL_HERE, NORMAL_THERE, Region, View, is_plausible, normal_about, normal_from_father,
    normal_of_four,
};
use crate::{Capsule, closest};
use glam::DVec3;

/// An instrument of three segments (K89), and the way in which each jaw works: towards the other (K98), unit length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Instrument {
    /// From where it comes to the base of the jaws.
    pub shaft: Capsule,
    /// From there to the tips.
    pub jaws: [Capsule; 2],
    /// One for each jaw.
    pub effects: [DVec3; 2],
}

impl Instrument {
    /// A capsule around all of it.
    pub fn hull(&self) -> Capsule {
        let [one, other] = self.jaws;
        let (a, b) = (self.shaft.a, 0.5 * (one.b + other.b));
        let reach = |p: DVec3| a.lerp(b, closest::on_segment(p, a, b)).distance(p);
        let ends = [self.shaft.b, one.a, other.a, one.b, other.b];
        let radii = [self.shaft, one, other].map(|s| s.radius);
        Capsule {
            a,
            b,
            radius: ends.map(reach).into_iter().fold(0.0, f64::max)
                + radii.into_iter().fold(0.0, f64::max),
        }
    }

    fn segments(&self) -> [Capsule; 3] {
        [self.shaft, self.jaws[0], self.jaws[1]]
    }
}

/// The nodes of a tissue, in the same order everywhere.
#[derive(Clone, Copy, Debug)]
pub struct Family<'a> {
    /// Where they are, m.
    pub nodes: &'a [DVec3],
    /// The surface's normals there, unit length (K97): shared with whoever draws it, or [made](normals) from neighbours and fathers.
    pub normals: &'a [DVec3],
    /// The four direct neighbours of each, by number, opposite ones beside each other, for rules that take the normal from where they are now; [`ALONE`] for a node without, whose normal is then the
    /// one above. May be empty.
    pub neighbours: &'a [[u32; 4]],
    /// The father of each, by number.
    pub fathers: &'a [u32],
    /// Where fathers are, m; of a tissue without any, its middle (K94).
    pub centres: &'a [DVec3],
    /// True for nodes that instruments pass through (K105); may be empty.
    pub passes: &'a [bool],
}

/// In place of neighbours, of a node that has fewer than four.
pub const ALONE: [u32; 4] = [u32::MAX; 4];

impl Family<'_> {
    /// Where a node's four neighbours are, if it has them.
    fn around(&self, node: usize) -> Option<[DVec3; 4]> {
        let four = self.neighbours.get(node).filter(|four| **four != ALONE)?;
        let place = |n: u32| self.nodes.get(n as usize).copied().unwrap_or(DVec3::NAN);
        Some(four.map(place))
    }

    fn father(&self, node: usize) -> Option<DVec3> {
        let father = self.fathers.get(node)?;
        self.centres.get(*father as usize).copied()
    }

    /// The normal that a rule wants of a node that would be at `projected` on the hull.
    fn normal(&self, node: usize, projected: DVec3, flags: u16) -> DVec3 {
        let about = match flags {
            _ if flags & NORMAL_THERE != 0 => projected,
            _ if flags & NORMAL_HERE != 0 => self.nodes[node],
            _ => return self.normals[node],
        };
        let four = self.around(node);
        four.map_or(self.normals[node], |four| normal_about(about, four))
    }
}

/// The normals of all nodes of a family, whatever it has for normals itself: from their four neighbours, or where they have not so many from their fathers (K97). `out` is cleared first.
pub fn normals(family: &Family<'_>, out: &mut Vec<DVec3>) {
    out.clear();
    out.extend(family.nodes.iter().enumerate().map(|(n, at)| {
        let father = || {
            let father = family.father(n);
            father.map_or(DVec3::ZERO, |father| normal_from_father(*at, father))
        };
        family.around(n).map_or_else(father, normal_of_four)
    }));
}

/// Tests and their thresholds, from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rule {
    /// Which tests; see [`Test`](super::kuhn::Test) and [`COMBINED`](super::kuhn::COMBINED).
    pub flags: u16,
    /// Of all six.
    pub thresholds: [f64; 6],
}

/// What has to be plausible where (K100): each for nodes that do not touch yet, and for those that do.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rules {
    /// On the inner side of a jaw.
    pub inner: [Rule; 2],
    /// On its outer side.
    pub outer: [Rule; 2],
    /// At its tip.
    pub tip: [Rule; 2],
    /// On the shaft.
    pub shaft: [Rule; 2],
    /// What makes it the inner side and not the outer.
    pub side: Rule,
}

/// What a kind of tissue changes about the rules (K100).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kind {
    /// Tests that are left out.
    pub excluded: u16,
    /// Factor of all thresholds.
    pub factor: f64,
}

impl Default for Kind {
    fn default() -> Self {
        Self {
            excluded: 0,
            factor: 1.0,
        }
    }
}

/// A node that an instrument touches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interaction {
    /// Which.
    pub node: u32,
    /// Where it touches (K102); never [`Region::Free`].
    pub region: Region,
    /// Where it belongs: on the hull, m.
    pub at: DVec3,
    /// From the axis to there, unit length.
    pub out: DVec3,
    /// For how many steps it has.
    pub age: u32,
}

/// The nodes of a tissue that an instrument touches, kept from step to step (K101). Memory is made once, for all of them (K104).
#[derive(Clone, Debug, Default)]
pub struct Interactions {
    /// By node, ascending.
    list: Vec<Interaction>,
    before: Vec<Interaction>,
    /// Nodes that were compared with segments in the last step.
    compared: usize,
    broken: Option<u32>,
}

impl Interactions {
    /// With room for a tissue of so many nodes.
    pub fn new(nodes: usize) -> Self {
        Self {
            list: Vec::with_capacity(nodes),
            before: Vec::with_capacity(nodes),
            compared: 0,
            broken: None,
        }
    }

    /// The first node of the last step that could not be judged, as where it is, a neighbour, its father, its normal or the instrument is no number. Whether it touches nobody
    /// can tell; what touched before still does.
    pub fn broken(&self) -> Option<u32> {
        self.broken
    }

    /// Nodes that were compared with segments in the last step.
    pub fn compared(&self) -> usize {
        self.compared
    }

    /// Finds what is touched now. Nodes that were touched are judged at once, by the rules for them; others after the three levels (K93): the hull of all
    /// and the ball about a father and its children, the segments and that ball, the segments and the children.
    pub fn update(
        &mut self,
        instrument: &Instrument,
        family: &Family<'_>,
        rules: &Rules,
        kind: Kind,
    ) -> &[Interaction] {
        std::mem::swap(&mut self.list, &mut self.before);
        self.list.clear();
        self.compared = 0;
        let segments = instrument.segments();
        let placed = |s: &Capsule| s.a.is_finite() && s.b.is_finite() && s.radius.is_finite();
        let whole = segments.iter().all(placed) && instrument.effects.iter().all(|e| e.is_finite());
        let sound = |n: usize| {
            let given = [family.father(n), family.normals.get(n).copied()];
            whole
                && family.nodes[n].is_finite()
                && given.iter().all(|p| p.is_some_and(|p| p.is_finite()))
                && family
                    .around(n)
                    .is_none_or(|four| four.iter().all(|p| p.is_finite()))
        };
        self.broken = (0..family.nodes.len())
            .find(|n| !sound(*n))
            .map(|n| n as u32);
        for old in &self.before {
            if (old.node as usize) < family.nodes.len() && !sound(old.node as usize) {
                let age = old.age.saturating_add(1);
                self.list.push(Interaction { age, ..*old });
                continue;
            }
            let judged = judge(old.node, Some(old), instrument, family, (rules, kind));
            self.list.extend(judged);
        }
        let hull = instrument.hull();
        for (z, centre) in family.centres.iter().enumerate() {
            let own =
                |n: &usize| family.fathers.get(*n).is_some_and(|f| *f as usize == z) && sound(*n);
            let children = || (0..family.nodes.len()).filter(own);
            let far = children().map(|n| family.nodes[n].distance_squared(*centre));
            let ball = far.fold(0.0, f64::max).sqrt();
            if !reaches(&hull, *centre, ball) || !segments.iter().any(|s| reaches(s, *centre, ball))
            {
                continue;
            }
            for node in children().map(|n| n as u32) {
                let touched = self.before.binary_search_by_key(&node, |i| i.node);
                if touched.is_err() {
                    self.compared += 1;
                    let judged = judge(node, None, instrument, family, (rules, kind));
                    self.list.extend(judged);
                }
            }
        }
        self.list.sort_unstable_by_key(|i| i.node);
        &self.list
    }
}

/// Whether a ball comes into a capsule (K92: squares are compared).
fn reaches(capsule: &Capsule, centre: DVec3, radius: f64) -> bool {
    let base = capsule.axis(closest::on_segment(centre, capsule.a, capsule.b));
    let sum = capsule.radius + radius;
    base.distance_squared(centre) <= sum * sum
}

/// Whether and where a node touches.
fn judge(
    node: u32,
    old: Option<&Interaction>,
    instrument: &Instrument,
    family: &Family<'_>,
    (rules, kind): (&Rules, Kind),
) -> Option<Interaction> {
    let n = node as usize;
    if family.passes.get(n).is_some_and(|passes| *passes) {
        return None;
    }
    let at = *family.nodes.get(n)?;
    let foot = |s: &Capsule| {
        let along = closest::on_segment(at, s.a, s.b);
        (along, s.axis(along))
    };
    // The segment in which it is deepest; what is in none is free, which is always allowed.
    let deep = |s: &Capsule| s.radius - foot(s).1.distance(at);
    let segments = instrument.segments();
    let deepest = (0..3).max_by(|i, j| deep(&segments[*i]).total_cmp(&deep(&segments[*j])))?;
    let segment = &segments[deepest];
    let (along, base) = foot(segment);
    let passed = |out: DVec3| (at - base).dot(out) < 0.0;
    // What the axis has passed is on the wrong side of it: it belongs to where it came from, as long as it is in the hull.
    let out = match old {
        Some(old) if passed(old.out) => old.out,
        _ => (at - base).try_normalize().or(old.map(|o| o.out))?,
    };
    if deep(segment) <= 0.0 {
        return None;
    }
    let effect = match deepest {
        0 => out,
        jaw => instrument.effects[jaw - 1],
    };
    let view = View {
        node: at,
        base,
        projected: base + out * segment.radius,
        father: family.centres[family.fathers[n] as usize],
        normal: family.normals[n],
        effect,
    };
    let holds = |rule: &Rule| {
        let flags = rule.flags & !kind.excluded;
        let view = View {
            normal: family.normal(n, view.projected, flags),
            ..view
        };
        is_plausible(&view, flags, rule.thresholds.map(|t| t * kind.factor))
    };
    let jaw = (deepest.max(1) - 1) as u8;
    let found = match deepest {
        0 => Region::Shaft,
        _ if along >= 1.0 => Region::Tip(jaw),
        _ if holds(&rules.side) => Region::Inner(jaw),
        _ => Region::Outer(jaw),
    };
    // What can't have come from where it was has gone through the instrument: it stays where it was (K102).
    let region = match old {
        Some(old) if !old.region.may_become(found) => old.region,
        _ => found,
    };
    let set = match region {
        Region::Shaft | Region::Free => &rules.shaft,
        Region::Tip(_) => &rules.tip,
        Region::Inner(_) => &rules.inner,
        Region::Outer(_) => &rules.outer,
    };
    holds(&set[usize::from(old.is_some())]).then_some(Interaction {
        node,
        region,
        at: view.projected,
        out,
        age: old.map_or(0, |o| o.age.saturating_add(1)),
    })
}

#[cfg(test)]
mod tests {
    use super::super::kuhn::Test;
    use super::*;

    const N: usize = 21;

    /// Flat, facing up, nodes 2 mm apart; two fathers below.
    fn flat() -> (Vec<DVec3>, Vec<u32>, Vec<DVec3>) {
        let at = |i: usize| DVec3::new((i % N) as f64, 0.0, (i / N) as f64) * 2e-3;
        let nodes: Vec<DVec3> = (0..N * N).map(at).collect();
        let fathers = nodes.iter().map(|p| u32::from(p.x > 0.02)).collect();
        let centres = vec![DVec3::new(0.01, -0.02, 0.02), DVec3::new(0.03, -0.02, 0.02)];
        (nodes, fathers, centres)
    }

    /// Jaws along −x, one above the other, the lower at `height`, opened by 6 mm.
    fn grasper(height: f64) -> Instrument {
        let base = DVec3::new(0.034, height + 3e-3, 0.02);
        let jaw = |y: f64| Capsule {
            a: base,
            b: DVec3::new(0.014, y, 0.02),
            radius: 1.5e-3,
        };
        Instrument {
            shaft: Capsule {
                a: base + DVec3::new(0.2, 0.1, 0.0),
                b: base,
                radius: 2.5e-3,
            },
            jaws: [jaw(height), jaw(height + 6e-3)],
            effects: [DVec3::Y, -DVec3::Y],
        }
    }

    fn inward() -> Rule {
        Rule {
            flags: Test::Direction as u16,
            thresholds: [0.4; 6],
        }
    }

    fn rules() -> Rules {
        Rules {
            inner: [inward(); 2],
            outer: [inward(), Rule::default()],
            tip: [inward(), Rule::default()],
            shaft: [inward(), Rule::default()],
            // The inner side is where the way onto the hull is that of working.
            side: Rule {
                flags: Test::Effect as u16,
                thresholds: [0.5; 6],
            },
        }
    }

    #[test]
    fn the_levels_lose_nothing_and_what_is_touched_is_put_onto_the_hull() {
        let (nodes, fathers, centres) = flat();
        let normals = vec![DVec3::Y; nodes.len()];
        let family = Family {
            nodes: &nodes,
            normals: &normals,
            fathers: &fathers,
            centres: &centres,
            neighbours: &[],
            passes: &[],
        };
        for height in [0.2e-3, 0.5e-3, 1e-3] {
            let tool = grasper(height);
            let mut all = Interactions::new(nodes.len());
            let found = all
                .update(&tool, &family, &rules(), Kind::default())
                .to_vec();
            let inside = |p: &DVec3| {
                let of =
                    |s: &Capsule| s.axis(closest::on_segment(*p, s.a, s.b)).distance(*p) < s.radius;
                tool.segments().iter().any(of)
            };
            let expected: Vec<u32> = (0..nodes.len() as u32)
                .filter(|n| inside(&nodes[*n as usize]))
                .collect();
            assert!(!expected.is_empty());
            assert_eq!(found.iter().map(|i| i.node).collect::<Vec<_>>(), expected);
            for i in &found {
                assert!(i.at.y < 0.0, "pushed down: {i:?}");
                assert!(
                    matches!(i.region, Region::Outer(0) | Region::Tip(0)),
                    "{i:?}"
                );
                let base = i.at - i.out * 1.5e-3;
                let jaw = tool.jaws[0];
                let on = jaw.axis(closest::on_segment(base, jaw.a, jaw.b));
                assert!(on.distance(base) < 1e-12);
            }
        }
        // Well above, the second level is enough.
        let mut all = Interactions::new(nodes.len());
        assert!(
            all.update(&grasper(0.06), &family, &rules(), Kind::default())
                .is_empty()
        );
        assert_eq!(all.compared(), 0);
    }

    #[test]
    fn what_the_axis_has_passed_belongs_to_where_it_came_from() {
        let (nodes, fathers, centres) = flat();
        let normals = vec![DVec3::Y; nodes.len()];
        let family = Family {
            nodes: &nodes,
            normals: &normals,
            fathers: &fathers,
            centres: &centres,
            neighbours: &[],
            passes: &[],
        };
        let mut all = Interactions::new(nodes.len());
        let first = all
            .update(&grasper(1e-3), &family, &rules(), Kind::default())
            .to_vec();
        // The hand jumps: the axis is now below the sheet, which is still in the hull.
        let then = all.update(&grasper(-0.5e-3), &family, &rules(), Kind::default());
        let outer = first.iter().filter(|i| i.region == Region::Outer(0));
        assert!(outer.clone().count() > 0, "{first:?}");
        for old in outer {
            let now = then.iter().find(|i| i.node == old.node).unwrap();
            assert!(now.at.y < -1e-3 && now.age == 1, "{now:?}");
            assert_eq!(now.region, old.region, "not on the inner side");
        }
        // Who comes so, and was never seen, is not plausible: the nearest way out would be upwards, against the normal.
        let mut fresh = Interactions::new(nodes.len());
        let found = fresh.update(&grasper(-0.5e-3), &family, &rules(), Kind::default());
        assert!(found.iter().all(|i| i.at.y < 0.0), "{found:?}");
    }

    /// The instrument rolls over where it is: by its jaw's way of working what was on the outer side of it would be on the inner one, although it has neither let go of it nor gone over its tip. Nothing but
    /// the table says otherwise.
    #[test]
    fn what_can_not_have_come_from_where_it_was_stays_there() {
        let (nodes, fathers, centres) = flat();
        let normals = vec![DVec3::Y; nodes.len()];
        let family = Family {
            nodes: &nodes,
            normals: &normals,
            fathers: &fathers,
            centres: &centres,
            neighbours: &[],
            passes: &[],
        };
        let tool = grasper(0.2e-3);
        let rolled = Instrument {
            effects: [-DVec3::Y, DVec3::Y],
            ..tool
        };
        let touched = |all: &mut Interactions, tool: &Instrument| {
            all.update(tool, &family, &rules(), Kind::default())
                .to_vec()
        };
        let mut all = Interactions::new(nodes.len());
        let first = touched(&mut all, &tool);
        let then = touched(&mut all, &rolled);
        let afresh = touched(&mut Interactions::new(nodes.len()), &rolled);
        let at = |list: &[Interaction], node: u32| {
            let found = list.iter().find(|i| i.node == node);
            found.map(|i| (i.region, i.at))
        };
        let mut count = 0;
        for old in first.iter().filter(|i| i.region == Region::Outer(0)) {
            let seen = at(&afresh, old.node).unwrap();
            assert_eq!(seen, (Region::Inner(0), old.at), "by itself");
            assert_eq!(at(&then, old.node), Some((Region::Outer(0), old.at)));
            count += 1;
        }
        assert!(count > 1, "{first:?}");
        // Over the tip it may.
        assert!(Region::Outer(0).may_become(Region::Tip(0)));
    }

    /// Normals that were given are those of a sheet that has since been tilted; rules that take them from where neighbours are see that, and the node that is pushed in.
    #[test]
    fn rules_take_normals_from_neighbours_if_they_say_so() {
        let (nodes, fathers, centres) = flat();
        let numbers: Vec<[u32; 4]> = (0..N * N)
            .map(|i| match (i % N, i / N) {
                (x, z) if x.min(z) == 0 || x.max(z) == N - 1 => ALONE,
                _ => [i + N, i - N, i + 1, i - 1].map(|n| n as u32),
            })
            .collect();
        let stale = vec![-DVec3::Y; nodes.len()];
        let mut family = Family {
            nodes: &nodes,
            normals: &stale,
            fathers: &fathers,
            centres: &centres,
            neighbours: &numbers,
            passes: &[],
        };
        let mut made = Vec::new();
        normals(&family, &mut made);
        let inner = |n: &usize| numbers[*n] != ALONE;
        assert!((0..N * N).filter(inner).all(|n| made[n] == DVec3::Y));
        let father = centres[fathers[0] as usize];
        assert_eq!(made[0], (nodes[0] - father).normalize());
        let touched = |family: &Family<'_>, more: u16| {
            let mut rules = rules();
            for rule in [&mut rules.outer, &mut rules.tip, &mut rules.shaft] {
                rule[0].flags |= more;
            }
            let mut all = Interactions::new(nodes.len());
            let list = all
                .update(&grasper(0.2e-3), family, &rules, Kind::default())
                .to_vec();
            (list.len(), all.broken())
        };
        assert_eq!(touched(&family, 0).0, 0, "facing down");
        let (here, there) = (
            touched(&family, NORMAL_HERE),
            touched(&family, NORMAL_THERE),
        );
        assert!(here.0 > 1 && here == there, "{here:?} {there:?}");
        // Without neighbours it is the one that was given.
        let (none, right) = (vec![ALONE; nodes.len()], vec![DVec3::Y; nodes.len()]);
        family.neighbours = &none;
        assert_eq!(touched(&family, NORMAL_HERE).0, 0);
        family.normals = &right;
        assert_eq!(touched(&family, NORMAL_HERE), here);
        // A neighbour that is nowhere leaves it open.
        let mut lost = numbers.clone();
        lost[N + 1][2] = u32::MAX - 1;
        family.neighbours = &lost;
        assert_eq!(touched(&family, NORMAL_HERE).1, Some(N as u32 + 1));
    }

    #[test]
    fn what_is_no_number_is_named_and_what_touched_before_still_does() {
        let (mut nodes, fathers, centres) = flat();
        let normals = vec![DVec3::Y; nodes.len()];
        let family = |nodes: &[DVec3], tool: &Instrument, all: &mut Interactions| {
            let family = Family {
                nodes,
                normals: &normals,
                fathers: &fathers,
                centres: &centres,
                neighbours: &[],
                passes: &[],
            };
            all.update(tool, &family, &rules(), Kind::default())
                .to_vec()
        };
        let tool = grasper(0.5e-3);
        let mut all = Interactions::new(nodes.len());
        let first = family(&nodes, &tool, &mut all);
        assert_eq!(all.broken(), None);
        let lost = first[first.len() / 2].node;
        nodes[lost as usize].y = f64::NAN;
        let then = family(&nodes, &tool, &mut all);
        assert_eq!(all.broken(), Some(lost));
        let ids = |list: &[Interaction]| list.iter().map(|i| i.node).collect::<Vec<_>>();
        assert_eq!(ids(&then), ids(&first));
        // An instrument that is nowhere lets go of nothing, either.
        let nowhere = Instrument {
            effects: [DVec3::NAN; 2],
            ..tool
        };
        let then = family(&nodes, &nowhere, &mut all);
        assert_eq!((all.broken(), ids(&then)), (Some(0), ids(&first)));
    }

    #[test]
    fn kinds_of_tissue_and_nodes_may_be_excepted() {
        let (nodes, fathers, centres) = flat();
        // Facing down: no test of the direction passes.
        let normals = vec![-DVec3::Y; nodes.len()];
        let mut family = Family {
            nodes: &nodes,
            normals: &normals,
            fathers: &fathers,
            centres: &centres,
            neighbours: &[],
            passes: &[],
        };
        let count = |family: &Family<'_>, kind: Kind| {
            let mut all = Interactions::new(nodes.len());
            all.update(&grasper(1e-3), family, &rules(), kind).len()
        };
        assert_eq!(count(&family, Kind::default()), 0);
        let lax = Kind {
            excluded: Test::Direction as u16,
            ..Kind::default()
        };
        let all = count(&family, lax);
        assert!(all > 1);
        let lower = Kind {
            factor: 0.0,
            ..Kind::default()
        };
        assert_eq!(count(&family, lower), all);
        let passes = vec![true; nodes.len()];
        family.passes = &passes;
        assert_eq!(count(&family, lax), 0);
    }
}
