//! Kuhn's judgement of a node near a segment of an instrument: is it plausible that they touch, and where may the node be next?

use glam::DVec3;

/// What a test looks at (K97–K99). All in the world; lengths in m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// The node.
    pub node: DVec3,
    /// The point of the segment's axis nearest to it.
    pub base: DVec3,
    /// Where the node would be on the hull.
    pub projected: DVec3,
    /// The node's father.
    pub father: DVec3,
    /// The surface's normal at the node.
    pub normal: DVec3,
    /// The way in which the segment works: the jaw's.
    pub effect: DVec3,
}

/// The tests, as bits of the source's flags (App. A.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Test {
    /// Only inward: normal against the way from the hull to the axis.
    Direction = 0x01,
    /// Normal against the way from the father to the hull.
    Surface = 0x02,
    /// The other side of the normal against the way of working.
    Pick = 0x04,
    /// The way of working against that from the node to the hull.
    Effect = 0x08,
    /// Normal against the way from the hull to the node.
    Position = 0x10,
    /// The way of working against that from the hull to the node.
    InverseEffect = 0x20,
}

impl Test {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Direction,
        Self::Surface,
        Self::Pick,
        Self::Effect,
        Self::Position,
        Self::InverseEffect,
    ];

    /// How plausible it is, from 0 to 1: half of one more than the cosine between the two vectors (4.9). A vector without direction says
    /// neither yes nor no.
    pub fn value(self, view: &View) -> f64 {
        let View {
            node,
            base,
            projected,
            father,
            normal,
            effect,
        } = *view;
        let (one, other) = match self {
            Self::Direction => (normal, base - projected),
            Self::Surface => (normal, projected - father),
            Self::Pick => (-normal, effect),
            Self::Effect => (effect, projected - node),
            Self::Position => (normal, node - projected),
            Self::InverseEffect => (effect, node - projected),
        };
        0.5 * (one.normalize_or_zero().dot(other.normalize_or_zero()) + 1.0)
    }
}

/// Set in the flags, the product of all values is held against that of all thresholds (4.12), instead of each against its own (4.11).
pub const COMBINED: u16 = 0x100;

/// Set in the flags, the normal is that of a node's four neighbours about where it is (K97; App. A.5), instead of the one it was given.
pub const NORMAL_HERE: u16 = 0x200;

/// Set in the flags, the normal is that of a node's four neighbours about where it would be on the hull (K97; App. A.5).
pub const NORMAL_THERE: u16 = 0x400;

/// The surface's normal at a node from its four direct neighbours, two of them opposite each other and then the other two (4.7), unit length; zero where they have no direction:
/// (n₁ − n₂) × (n₃ − n₄). Neighbours in the order n₁, n₃, n₂, n₄ go round the normal counterclockwise.
pub fn normal_of_four([a, b, c, d]: [DVec3; 4]) -> DVec3 {
    (a - b).cross(c - d).normalize_or_zero()
}

/// The cheap alternative (4.8), unit length: away from the node's father. It is worse where the surface is not round about him.
pub fn normal_from_father(node: DVec3, father: DVec3) -> DVec3 {
    (node - father).normalize_or_zero()
}

/// The normal of four neighbours, in the order of [`normal_of_four`], about a place between them: where the node is, or where it would be. The areas of the four triangles about it add up to the
/// same wherever they meet, which is (4.7) again; so each has a say by its direction alone. (The source names the two variants and prints no formula.)
pub fn normal_about(place: DVec3, [a, b, c, d]: [DVec3; 4]) -> DVec3 {
    let round = [a, c, b, d, a];
    let sides = round.windows(2).map(|side| match side {
        [from, to] => (*from - place).cross(*to - place).normalize_or_zero(),
        _ => DVec3::ZERO,
    });
    sides.sum::<DVec3>().normalize_or_zero()
}

/// Whether all tests of `flags` find it plausible, each with its threshold from 0 to 1 (4.10–4.12).
pub fn is_plausible(view: &View, flags: u16, thresholds: [f64; 6]) -> bool {
    let mut products = [1.0, 1.0];
    let mut each = true;
    for (test, threshold) in Test::ALL.into_iter().zip(thresholds) {
        if flags & test as u16 != 0 {
            let value = test.value(view);
            each &= value >= threshold;
            products = [products[0] * value, products[1] * threshold];
        }
    }
    if flags & COMBINED == 0 {
        each
    } else {
        products[0] >= products[1]
    }
}

/// Which region of an instrument a node touches (K102).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    /// None.
    Free,
    /// The shaft; 31 in the source.
    Shaft,
    /// The tip of a jaw, 0 or 1; 11 and 21.
    Tip(u8),
    /// The inner side of a jaw; 12 and 22.
    Inner(u8),
    /// The outer side of a jaw; 13 and 23.
    Outer(u8),
}

impl Region {
    /// Whether a node that touches this region may touch another in the next step. What may not has gone through the instrument.
    pub fn may_become(self, next: Self) -> bool {
        use Region::{Free, Inner, Outer, Shaft, Tip};
        if self == next || next == Free {
            return true;
        }
        match (self, next) {
            (Free, _) => true,
            (Shaft, Outer(_)) => true,
            // From one jaw to the other on the same side, or over its own tip.
            (Inner(_), Inner(_)) | (Outer(_), Outer(_)) => true,
            (Inner(a) | Outer(a), Tip(b)) | (Tip(a), Inner(b) | Outer(b)) => a == b,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A shaft along x of 2 mm radius above a surface that faces up; the node has sunk into it or not.
    fn view(height: f64) -> View {
        let node = DVec3::Y * height;
        let base = DVec3::Y * 3e-3;
        let away = (node - base).normalize();
        View {
            node,
            base,
            projected: base + away * 2e-3,
            father: DVec3::Y * -0.02,
            normal: DVec3::Y,
            effect: -DVec3::Y,
        }
    }

    #[test]
    fn values_are_those_of_the_angles() {
        let v = view(1.5e-3);
        for (test, expected) in Test::ALL.into_iter().zip([1.0, 1.0, 1.0, 1.0, 1.0, 0.0]) {
            assert!((test.value(&v) - expected).abs() < 1e-12, "{test:?}");
        }
        let across = View {
            normal: DVec3::X,
            ..v
        };
        assert!((Test::Direction.value(&across) - 0.5).abs() < 1e-12);
        // Passed: the hull's nearest point is now on the far side, and the test says so.
        assert!(Test::Direction.value(&view(3.5e-3)) < 1e-12);
    }

    #[test]
    fn normals_come_from_neighbours_or_from_the_father() {
        // On a bowl y = x² + z², off its lowest point.
        let bowl = |x: f64, z: f64| DVec3::new(x, x * x + z * z, z);
        let (x, z, h) = (0.3, -0.1, 1e-3);
        let four = [
            bowl(x, z + h),
            bowl(x, z - h),
            bowl(x + h, z),
            bowl(x - h, z),
        ];
        let exact = DVec3::new(-2.0 * x, 1.0, -2.0 * z).normalize();
        assert!(normal_of_four(four).distance(exact) < 1e-6);
        let here = bowl(x, z);
        assert!(normal_about(here, four).distance(exact) < 1e-6);
        // Pushed in beside the middle, it leans towards where there is more room.
        let pushed = here + DVec3::new(0.5 * h, -h, 0.0);
        let leaning = normal_about(pushed, four);
        assert!(leaning.dot(exact) > 0.5 && leaning.distance(exact) > 0.01);
        let father = DVec3::new(x, -2.0, z);
        assert_eq!(normal_from_father(here, father), DVec3::Y);
        let flat = [DVec3::ZERO; 4];
        assert_eq!(normal_of_four(flat), DVec3::ZERO);
        assert_eq!(normal_about(DVec3::ZERO, flat), DVec3::ZERO);
        assert_eq!(normal_from_father(here, here), DVec3::ZERO);
    }

    #[test]
    fn tests_are_joined_by_and_or_by_product() {
        let tilted = View {
            normal: DVec3::new(1.0, 1.0, 0.0).normalize(),
            ..view(1.5e-3)
        };
        let flags = Test::Direction as u16 | Test::InverseEffect as u16;
        let thresholds = [0.8, 0.0, 0.0, 0.0, 0.0, 0.5];
        assert!(is_plausible(&tilted, Test::Direction as u16, thresholds));
        assert!(!is_plausible(&tilted, flags, thresholds));
        assert!(!is_plausible(&tilted, flags | COMBINED, thresholds));
        let lax = [0.8, 0.0, 0.0, 0.0, 0.0, 0.0];
        assert!(is_plausible(&tilted, flags | COMBINED, lax));
        assert!(is_plausible(&tilted, 0, thresholds));
    }

    /// The table of the source, row by row.
    #[test]
    fn regions_change_as_the_table_says() {
        use Region::{Free, Inner, Outer, Shaft, Tip};
        let all = [
            Free,
            Shaft,
            Inner(0),
            Inner(1),
            Outer(0),
            Outer(1),
            Tip(0),
            Tip(1),
        ];
        let table: [(Region, &[Region]); 8] = [
            (Free, &all),
            (Shaft, &[Free, Outer(0), Outer(1)]),
            (Inner(0), &[Free, Inner(1), Tip(0)]),
            (Inner(1), &[Free, Inner(0), Tip(1)]),
            (Outer(0), &[Free, Tip(0), Outer(1)]),
            (Outer(1), &[Free, Tip(1), Outer(0)]),
            (Tip(0), &[Free, Inner(0), Outer(0)]),
            (Tip(1), &[Free, Inner(1), Outer(1)]),
        ];
        for (now, allowed) in table {
            for next in all {
                let expected = now == next || allowed.contains(&next);
                assert_eq!(now.may_become(next), expected, "{now:?} to {next:?}");
            }
        }
    }
}
