//! Which way a tear runs on: towards where the sheet is stretched least (W86, W87, W94, W107).

use glam::DVec3;
use trocar_mesh::sheet::{Kind, NodeId, Sheet, TriangleId};

/// Stretch ratio, now over rest, of the way from corner `a` to the point b + t (c − b) of the side across.
fn stretch([a, b, c]: [DVec3; 3], [x, y, z]: [DVec3; 3], t: f64) -> f64 {
    ((y - x) + (z - y) * t).length() / ((b - a) + (c - b) * t).length()
}

/// The point b + t (c − b) of the side across from corner a towards which a triangle is stretched least, and the stretch (W87).
///
/// Minimises f(t) = |d' − a'| / |d − a| over `range` within 0 … 1; plain letters at rest, primed ones now, all m. With
/// p = b − a, q = c − b the stationary points of f² solve A t² + B t + C = 0,
///
/// ```text
/// A = (p·q)(q'·q') − (p'·q')(q·q)
/// B = (q'·q')(p·p) − (q·q)(p'·p')
/// C = (p'·q')(p·p) − (p·q)(p'·p')
/// ```
///
/// None if the range is empty.
pub fn least_stretch(rest: [DVec3; 3], now: [DVec3; 3], range: [f64; 2]) -> Option<(f64, f64)> {
    let [low, high] = [range[0].max(0.0), range[1].min(1.0)];
    if low.partial_cmp(&high)?.is_gt() {
        return None;
    }
    let (p, q) = (rest[1] - rest[0], rest[2] - rest[1]);
    let (p_now, q_now) = (now[1] - now[0], now[2] - now[1]);
    let a = p.dot(q) * q_now.dot(q_now) - p_now.dot(q_now) * q.dot(q);
    let b = q_now.dot(q_now) * p.dot(p) - q.dot(q) * p_now.dot(p_now);
    let c = p_now.dot(q_now) * p.dot(p) - p.dot(q) * p_now.dot(p_now);
    let mut best = (low, stretch(rest, now, low));
    let mut consider = |t: f64| {
        // A root that is not a number compares as outside.
        if t > low && t <= high {
            let ratio = stretch(rest, now, t);
            if ratio < best.1 {
                best = (t, ratio);
            }
        }
    };
    consider(high);
    let square = b * b - 4.0 * a * c;
    if square >= 0.0 {
        // The form without cancellation; it also serves A = 0, where one root is infinite.
        let sum = -0.5 * (b + b.signum() * square.sqrt());
        consider(sum / a);
        consider(c / sum);
    }
    Some(best)
}

/// What a tear goes by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Aim {
    /// Towards the least stretch (W86).
    Strain,
    /// Along this direction at rest, either way: across the greatest tension. From a tip it goes on, from a rim into the sheet.
    Along(DVec3),
    /// In this direction at rest: along a given path, as a blade does.
    Toward(DVec3),
}

/// Where the ray of a tear leaves the triangle it runs into.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ray {
    /// The triangle.
    pub triangle: TriangleId,
    /// The ends of the side that the ray crosses, counter-clockwise.
    pub side: [NodeId; 2],
    /// Where on that side, 0 to 1.
    pub part: f64,
    /// That point at rest, m.
    pub point: DVec3,
}

/// Nearer to a rim than this part of a triangle's side a tear from a rim node does not start.
const RIM_MARGIN: f64 = 0.1;

/// Where a tear at `node` runs, in the sheet at `positions` (m, by place); none if there is no way it may go.
pub fn ray(sheet: &Sheet, positions: &[DVec3], node: NodeId, aim: Aim) -> Option<Ray> {
    let kind = sheet.kind(node)?;
    let here = sheet.rest(node);
    let rim = sheet.rim_neighbours(node);
    // A tear goes on, never back (W94).
    let onward = match (kind, rim) {
        (Kind::Tip, Some([behind, _])) => Some(here - sheet.rest(behind)),
        _ => None,
    };
    let aim = match aim {
        Aim::Along(way) if onward.is_some_and(|o| way.dot(o) < 0.0) => Aim::Toward(-way),
        // From a rim only one of both ways leads into the sheet: which, the fan will say.
        Aim::Along(_) if kind == Kind::Edge => aim,
        Aim::Along(way) => Aim::Toward(way),
        other => other,
    };
    let mut best: Option<(Ray, f64)> = None;
    let mut most = f64::NEG_INFINITY;
    for (triangle, b, c) in sheet.fan(node) {
        let rest = [here, sheet.rest(b), sheet.rest(c)];
        let mut range = [0.0_f64, 1.0_f64];
        if let Some(onward) = onward {
            clip(
                &mut range,
                (rest[1] - here).dot(onward),
                (rest[2] - here).dot(onward),
            );
        }
        if let (Kind::Edge, Some([next, previous])) = (kind, rim) {
            range[0] = range[0].max(if b == next { RIM_MARGIN } else { 0.0 });
            range[1] = range[1].min(if c == previous { 1.0 - RIM_MARGIN } else { 1.0 });
        }
        let found = match aim {
            Aim::Strain => {
                let now = [node, b, c].map(|n| positions[n.slot()]);
                least_stretch(rest, now, range)
            }
            Aim::Toward(way) => crossing(rest, way, range),
            Aim::Along(way) => {
                let [one, two] = [way, -way].map(|way| crossing(rest, way, range));
                nearer(one, two)
            }
        };
        let Some((part, score)) = found else {
            continue;
        };
        most = most.max(score);
        if best.is_none_or(|(_, least)| score < least) {
            let ray = Ray {
                triangle,
                side: [b, c],
                part,
                point: rest[1] + (rest[2] - rest[1]) * part,
            };
            best = Some((ray, score));
        }
    }
    let (found, least) = best?;
    // Stretched alike everywhere: no reason to turn.
    if let (Aim::Strain, Some(onward)) = (aim, onward)
        && most - least <= 1e-9 * least
    {
        return ray(sheet, positions, node, Aim::Toward(onward));
    }
    Some(found)
}

/// Shortens the range of t to where the linear function from `start` to `end` is above zero.
fn clip(range: &mut [f64; 2], start: f64, end: f64) {
    if start <= 0.0 && end <= 0.0 {
        *range = [1.0, 0.0];
    } else if start <= 0.0 {
        range[0] = range[0].max(start / (start - end) + 1e-6);
    } else if end <= 0.0 {
        range[1] = range[1].min(start / (start - end) - 1e-6);
    }
}

/// The one of two places with the lower score.
fn nearer(one: Option<(f64, f64)>, two: Option<(f64, f64)>) -> Option<(f64, f64)> {
    match (one, two) {
        (Some(a), Some(b)) => Some(if b.1 < a.1 { b } else { a }),
        (found, other) => found.or(other),
    }
}

/// Where `way` from corner a crosses the side across, and how far it is from doing so within the range: 0 if it does.
fn crossing([a, b, c]: [DVec3; 3], way: DVec3, range: [f64; 2]) -> Option<(f64, f64)> {
    if range[0].partial_cmp(&range[1])?.is_gt() {
        return None;
    }
    // What leads nowhere has no ray.
    let along = way.try_normalize()?;
    let normal = (b - a).cross(c - a);
    // way = x (b − a) + y (c − a) in the plane of the triangle.
    let x = way.cross(c - a).dot(normal);
    let y = (b - a).cross(way).dot(normal);
    let score = |part: f64| {
        let point = (b - a) + (c - b) * part;
        let cosine = point.normalize_or_zero().dot(along);
        part.is_finite().then_some((part, 1.0 - cosine))
    };
    if x + y > 0.0 {
        return score((y / (x + y)).clamp(range[0], range[1]));
    }
    // It leads away from that side, and the line of it would cross elsewhere: the end of the range that is nearer to the way.
    nearer(score(range[0]), score(range[1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number between −1 and 1 for each seed.
    fn noise(seed: u64) -> f64 {
        let mut z = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    #[test]
    fn what_leads_nowhere_has_no_ray() {
        let corners = [DVec3::ZERO, DVec3::X, DVec3::Y];
        for way in [DVec3::ZERO, DVec3::NAN, DVec3::splat(f64::INFINITY)] {
            assert_eq!(crossing(corners, way, [0.0, 1.0]), None, "{way}");
        }
        assert!(crossing(corners, DVec3::ONE, [0.0, 1.0]).is_some());
    }

    #[test]
    fn the_closed_form_is_the_best_of_all_tried() {
        let mut inside = 0;
        for case in 0..2000 {
            let point = |k: u64| {
                DVec3::new(
                    noise(case * 32 + k),
                    noise(case * 32 + k + 7),
                    noise(case * 32 + k + 13),
                )
            };
            let flat = |k: u64| point(k) * DVec3::new(1.0, 1.0, 0.0);
            let (rest, now) = ([flat(0), flat(1), flat(2)], [point(3), point(4), point(5)]);
            let range = if case % 3 == 0 {
                [0.2, 0.7]
            } else {
                [0.0, 1.0]
            };
            let (t, ratio) = least_stretch(rest, now, range).unwrap();
            assert!((ratio - stretch(rest, now, t)).abs() <= 1e-12 * ratio);
            let steps = 4000;
            let brute = (0..=steps)
                .map(|k| range[0] + (range[1] - range[0]) * f64::from(k) / f64::from(steps))
                .map(|t| stretch(rest, now, t))
                .fold(f64::INFINITY, f64::min);
            assert!(
                ratio <= brute * (1.0 + 1e-12),
                "{case}: {ratio} against {brute}"
            );
            // Brute force can only be a grid's width away from it.
            assert!(
                brute - ratio < 1e-2 * brute.max(1.0),
                "{case}: {ratio} against {brute}"
            );
            inside += usize::from(t > range[0] && t < range[1]);
        }
        assert!(inside > 500, "only {inside} had their least inside");
    }

    /// A node on the lower side of a straight rim, with the triangles above it in a fan; where it is, and the ends of the fan.
    fn on_a_rim() -> (Sheet, NodeId) {
        let surface = trocar_mesh::primitive::HexagonalShape::STANDARD;
        let sheet = Sheet::new(&surface.surface().unwrap()).unwrap();
        let off = |n: &NodeId| sheet.rest(*n).distance(DVec3::X * 4.25e-3);
        let node = sheet.nodes().min_by(|a, b| off(a).total_cmp(&off(b)));
        let node = node.unwrap();
        assert_eq!(sheet.fan(node).count(), 3);
        (sheet, node)
    }

    #[test]
    fn a_tear_from_a_rim_goes_into_the_sheet_whichever_way_its_line_is_told() {
        let (sheet, node) = on_a_rim();
        let here = sheet.rest(node);
        let positions: Vec<_> = sheet.nodes().map(|n| sheet.rest(n)).collect();
        for degrees in (10..=170).step_by(5) {
            let turn = f64::from(degrees).to_radians();
            let way = DVec3::new(
                trocar_math::real::cos(turn),
                trocar_math::real::sin(turn),
                0.0,
            );
            for told in [way, -way] {
                let found = ray(&sheet, &positions, node, Aim::Along(told)).unwrap();
                let gone = (found.point - here).normalize();
                assert!(gone.dot(way) > 1.0 - 1e-12, "{degrees}: {gone}");
            }
        }
    }

    #[test]
    fn what_leads_out_of_a_triangle_leaves_it_at_the_nearer_end() {
        // Slender, so that the side across runs nearly along the rays.
        let at = |degrees: f64, far: f64| {
            let turn = degrees.to_radians();
            DVec3::new(
                trocar_math::real::cos(turn),
                trocar_math::real::sin(turn),
                0.0,
            ) * far
        };
        let rest = [DVec3::ZERO, at(0.0, 1.0), at(30.0, 10.0)];
        for (degrees, end) in [
            (60.0, 1.0),
            (120.0, 1.0),
            (190.0, 1.0),
            (200.0, 0.0),
            (-30.0, 0.0),
        ] {
            let (part, score) = crossing(rest, at(degrees, 1.0), [0.0, 1.0]).unwrap();
            assert_eq!(part, end, "{degrees}");
            let off = if end == 1.0 { degrees - 30.0 } else { degrees };
            let expected = 1.0 - trocar_math::real::cos(off.to_radians());
            assert!((score - expected).abs() < 1e-12, "{degrees}: {score}");
        }
    }

    #[test]
    fn no_deformation_has_no_preference_and_an_empty_range_no_answer() {
        let rest = [DVec3::ZERO, DVec3::X, DVec3::Y];
        let (_, ratio) = least_stretch(rest, rest, [0.0, 1.0]).unwrap();
        assert!((ratio - 1.0).abs() < 1e-15);
        assert_eq!(least_stretch(rest, rest, [0.6, 0.4]), None);
        // Stretched along x only: the tear runs along y.
        let now = rest.map(|p| p * DVec3::new(1.5, 1.0, 1.0));
        let (t, ratio) = least_stretch(rest, now, [0.0, 1.0]).unwrap();
        assert!((t - 1.0).abs() < 1e-12 && (ratio - 1.0).abs() < 1e-12);
    }
}
