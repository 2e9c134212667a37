//! What two triangles have in common.

use glam::DVec3;

/// What two triangles have in common (H72). The kind is exact, the places are rounded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Contact {
    /// Nothing.
    None,
    /// One point.
    Point(DVec3),
    /// A segment between two different points. Their places may be the same after rounding.
    Segment([DVec3; 2]),
    /// A convex polygon: they lie in one plane and overlap.
    Polygon(Polygon),
    /// Nobody can tell whether there is anything: a corner is no number, or coordinates span more than 10⁻⁷⁵ to 10⁷⁵.
    Unknown,
}

/// A convex polygon with three to six corners, which go round it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Polygon {
    corners: [DVec3; 6],
    count: u8,
}

impl Polygon {
    /// Through `corners`, of which all beyond the sixth are left out. They are sorted round their middle, against the clock if seen from
    /// where `normal` points to.
    pub(super) fn around(corners: &[DVec3], normal: DVec3) -> Self {
        let count = corners.len().min(6);
        let mut polygon = Self {
            corners: [DVec3::ZERO; 6],
            count: count as u8,
        };
        polygon.corners[..count].copy_from_slice(&corners[..count]);
        let list = &mut polygon.corners[..count];
        let middle = list.iter().sum::<DVec3>() / count.max(1) as f64;
        let axis = list.first().map_or(DVec3::X, |p| p - middle);
        let across = normal.cross(axis);
        // Grows with the angle from `axis`, from 0 to 4.
        let turn = |p: DVec3| {
            let (x, y) = ((p - middle).dot(axis), (p - middle).dot(across));
            let length = (x.abs() + y.abs()).max(f64::MIN_POSITIVE);
            if y >= 0.0 {
                1.0 - x / length
            } else {
                3.0 + x / length
            }
        };
        list.sort_by(|p, q| turn(*p).total_cmp(&turn(*q)));
        polygon
    }

    /// The corners, m.
    pub fn corners(&self) -> &[DVec3] {
        &self.corners[..usize::from(self.count)]
    }
}

impl Contact {
    /// The same with each point elsewhere.
    pub(super) fn moved(self, to: impl Fn(DVec3) -> DVec3) -> Self {
        match self {
            Self::None | Self::Unknown => self,
            Self::Point(p) => Self::Point(to(p)),
            Self::Segment(ends) => Self::Segment(ends.map(to)),
            Self::Polygon(Polygon { corners, count }) => Self::Polygon(Polygon {
                corners: corners.map(to),
                count,
            }),
        }
    }

    /// True unless they have nothing in common; also if nobody can tell.
    pub fn exists(&self) -> bool {
        !matches!(self, Self::None)
    }

    /// The corners of what they have in common, m: none, one, two, or three to six.
    pub fn points(&self) -> &[DVec3] {
        match self {
            Self::None | Self::Unknown => &[],
            Self::Point(point) => std::slice::from_ref(point),
            Self::Segment(ends) => ends,
            Self::Polygon(polygon) => polygon.corners(),
        }
    }

    /// The middle of those corners, m.
    pub fn middle(&self) -> Option<DVec3> {
        let points = self.points();
        (!points.is_empty()).then(|| points.iter().sum::<DVec3>() / points.len() as f64)
    }
}
