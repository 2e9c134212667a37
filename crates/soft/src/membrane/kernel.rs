//! Energies and forces of the parts of a membrane, each a function of positions alone: a force is minus the slope of its energy (W33).

use glam::{DMat2, DVec2, DVec3};

/// Pull of a spring on its first end towards the second, N, and its tension, N (W32, M2): f = c (l − l₀) along it.
///
/// `apart` from the first end to the second and `rest_length` in m, `stiffness` in N/m. A spring without length pulls nowhere.
#[inline]
pub fn spring(apart: DVec3, rest_length: f64, stiffness: f64) -> (DVec3, f64) {
    let length = apart.length();
    let tension = stiffness * (length - rest_length);
    if length > 0.0 {
        (apart * (tension / length), tension)
    } else {
        (DVec3::ZERO, tension)
    }
}

/// A triangle of a sheet at rest: what does not change while it deforms.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Flat {
    /// Area at rest, m²; 0 if there is no triangle.
    pub area: f64,
    /// Gradients of the second and third corner's weights in the triangle's own plane, 1/m; the first's is minus their sum.
    pub gradients: [DVec2; 2],
    /// The axes of that plane in the rest position's space.
    pub axes: [DVec3; 2],
}

impl Flat {
    /// The triangle with these corners at rest, m.
    pub fn new([a, b, c]: [DVec3; 3]) -> Self {
        let normal = (b - a).cross(c - a);
        let x = (b - a).normalize_or_zero();
        let y = normal.normalize_or_zero().cross(x);
        let edges = DMat2::from_cols(
            DVec2::new((b - a).dot(x), (b - a).dot(y)),
            DVec2::new((c - a).dot(x), (c - a).dot(y)),
        );
        let inverse = edges.inverse();
        Self {
            area: 0.5 * normal.length(),
            gradients: [inverse.row(0), inverse.row(1)],
            axes: [x, y],
        }
    }

    /// How a point of the triangle's plane moves when the corners are at these places: the two columns of ∂x/∂X.
    pub fn gradient(&self, [a, b, c]: [DVec3; 3]) -> [DVec3; 2] {
        let [g, h] = self.gradients;
        [(b - a) * g.x + (c - a) * h.x, (b - a) * g.y + (c - a) * h.y]
    }
}

/// Tension in a triangle: principal values, N/m, the greater first; their directions at rest and now; and energy, J/m².
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tension {
    /// Principal tensions, N/m; never below zero.
    pub principal: [f64; 2],
    /// Their directions in the triangle's plane at rest.
    pub along: [DVec2; 2],
    /// Their directions in space.
    pub now: [DVec3; 2],
    /// Energy for each area at rest, J/m².
    pub energy: f64,
}

/// Tension of a thin isotropic sheet that can be pulled but not pushed: it wrinkles instead (tension-field theory; Reissner 1938,
/// Pipkin 1986).
///
/// With the principal stretches λ₁ ≥ λ₂ of `corners` (m) against the rest, e = λ − 1, `stiffness` Y = E t (N/m) and Poisson's
/// ratio ν, the energy for each area is
///
/// ```text
/// taut       Y/(2 (1 − ν²)) (e₁² + e₂² + 2 ν e₁ e₂)
/// wrinkled   Y/2 e₁²               where e₂ ≤ −ν e₁
/// slack      0                     where e₁ ≤ 0
/// ```
///
/// which is smooth across the borders, so that forces do not jump.
pub fn tension(flat: &Flat, corners: [DVec3; 3], stiffness: f64, poisson: f64) -> Tension {
    let [f, g] = flat.gradient(corners);
    let (xx, xy, yy) = (f.dot(f), f.dot(g), g.dot(g));
    let (mean, half) = (0.5 * (xx + yy), 0.5 * (xx - yy));
    let deviation = (half * half + xy * xy).sqrt();
    let greater = (mean + deviation).sqrt();
    let lesser = (mean - deviation).max(0.0).sqrt();
    let (first, second) = (greater - 1.0, lesser - 1.0);
    if first <= 0.0 {
        return Tension::default();
    }
    // The greater eigenvector, in the form that does not cancel.
    let axis = if half >= 0.0 {
        DVec2::new(half + deviation, xy)
    } else {
        DVec2::new(xy, deviation - half)
    };
    let along = axis.try_normalize().unwrap_or(DVec2::X);
    let across = along.perp();
    let one = (f * along.x + g * along.y) / greater;
    let wrinkled = second <= -poisson * first;
    let (principal, energy) = if wrinkled {
        ([stiffness * first, 0.0], 0.5 * stiffness * first * first)
    } else {
        let k = stiffness / (1.0 - poisson * poisson);
        (
            [
                k * (first + poisson * second),
                k * (second + poisson * first),
            ],
            0.5 * k * (first * first + second * second + 2.0 * poisson * first * second),
        )
    };
    let two = if wrinkled {
        DVec3::ZERO
    } else {
        (f * across.x + g * across.y) / lesser
    };
    Tension {
        principal,
        along: [along, across],
        now: [one, two],
        energy,
    }
}

/// Square of the greater principal stretch of a triangle with these corners, m: what [`tension`] begins with.
#[inline]
pub fn greatest_square(flat: &Flat, corners: [DVec3; 3]) -> f64 {
    let [f, g] = flat.gradient(corners);
    let (xx, xy, yy) = (f.dot(f), f.dot(g), g.dot(g));
    let half = 0.5 * (xx - yy);
    0.5 * (xx + yy) + (half * half + xy * xy).sqrt()
}

/// Forces of that tension on the three corners, N: −A P ∇N with P = Σ s a ⊗ N.
pub fn tension_forces(flat: &Flat, tension: &Tension) -> [DVec3; 3] {
    let force = |gradient: DVec2| {
        let part =
            |k: usize| tension.now[k] * (tension.principal[k] * tension.along[k].dot(gradient));
        (part(0) + part(1)) * -flat.area
    };
    let [b, c] = flat.gradients.map(force);
    [-(b + c), b, c]
}

/// How much the sheet is bent at an edge, 2 sin(θ/2) of the angle θ, and its gradients (1/m) by the places of the edge's ends
/// and of the apexes on its left and right, m.
///
/// Flat is zero; up, against the normal's side, is negative. For small angles that is the angle; for greater ones the
/// gradient never exceeds the angle's, so that a fold is no stiffer than the sheet, and no arc tangent is needed. Gradients
/// of apexes are cos(θ/2)/height along the normals; the ends take what keeps a rigid motion from bending. Triangles
/// without area do not bend.
pub fn hinge([from, to, left, right]: [DVec3; 4]) -> (f64, [DVec3; 4]) {
    let edge = to - from;
    let square = edge.length_squared();
    let (n, m) = (edge.cross(left - from), (right - from).cross(edge));
    let (nn, mm) = (n.length_squared(), m.length_squared());
    if square == 0.0 || nn == 0.0 || mm == 0.0 {
        return (0.0, [DVec3::ZERO; 4]);
    }
    let length = square.sqrt();
    let cosine = (n.dot(m) / (nn * mm).sqrt()).clamp(-1.0, 1.0);
    let sine = (0.5 * (1.0 - cosine)).sqrt();
    let half = (0.5 * (1.0 + cosine)).sqrt();
    let bent = if n.cross(m).dot(edge) < 0.0 {
        -2.0 * sine
    } else {
        2.0 * sine
    };
    let (u, v) = (n * (-length * half / nn), m * (-length * half / mm));
    let (s, t) = (
        (left - from).dot(edge) / square,
        (right - from).dot(edge) / square,
    );
    (
        bent,
        [-(u * (1.0 - s) + v * (1.0 - t)), -(u * s + v * t), u, v],
    )
}

/// By how much each node bends an edge that is flat at rest, c in 1/m, in the order of [`hinge`]: how much it is bent is then |Σ c x|.
///
/// With the heights h and the feet s (0 to 1) of the apexes at rest, c is −1/h for them, and for the ends what keeps Σ c and Σ c X at zero. With
/// unit vectors a, b from the edge to the apexes, Σ c x = −(a + b) as long as lengths are those at rest: 2 sin(θ/2) at any angle, as in
/// [`hinge`] (the quadratic bending of Bergou et al. 2006). Forces are −k cᵢ Σ c x: no root, no quotient, nothing to blow up in a fold. A
/// uniform stretch costs nothing; an uneven one costs, but less than bending by as much.
pub fn flat_hinge([from, to, left, right]: [DVec3; 4]) -> [f64; 4] {
    let edge = to - from;
    let square = edge.length_squared();
    let foot = |apex: DVec3| {
        let part = (apex - from).dot(edge) / square;
        (part, 1.0 / (apex - from - edge * part).length())
    };
    let ((s, l), (t, r)) = (foot(left), foot(right));
    let slopes = [(1.0 - s) * l + (1.0 - t) * r, s * l + t * r, -l, -r];
    if slopes.iter().all(|c| c.is_finite()) {
        slopes
    } else {
        [0.0; 4]
    }
}

/// Stiffness (N·m) of a hinge for a plate of flexural rigidity `rigidity` (N·m): D l² / (A + A′), with the edge's length (m) and the
/// areas beside it (m²) at rest.
///
/// On equilateral triangles the energy ½ k θ² of all hinges is then that of the plate, ½ D κ² for each area, for a cylinder of
/// curvature κ whatever way it is turned.
pub fn hinge_stiffness(rigidity: f64, length: f64, areas: f64) -> f64 {
    rigidity * length * length / areas
}

#[cfg(test)]
mod tests {
    use super::*;
    use trocar_math::rotation;

    fn noise(seed: u64) -> f64 {
        let mut z = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x51ed_270b;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn point(seed: u64) -> DVec3 {
        DVec3::new(noise(3 * seed), noise(3 * seed + 1), noise(3 * seed + 2))
    }

    /// Minus the slope of an energy along each coordinate of a point.
    fn slope(at: DVec3, energy: impl Fn(DVec3) -> f64) -> DVec3 {
        let h = 1e-6;
        DVec3::from_array(
            [DVec3::X, DVec3::Y, DVec3::Z]
                .map(|axis| -(energy(at + axis * h) - energy(at - axis * h)) / (2.0 * h)),
        )
    }

    #[test]
    fn forces_are_slopes_of_the_energies() {
        let mut states = [0; 3];
        for case in 0..300 {
            let rest = [point(8 * case), point(8 * case + 1), point(8 * case + 2)]
                .map(|p| p * DVec3::new(1.0, 1.0, 0.2));
            let flat = Flat::new(rest);
            let size = [1.3, 0.6, 0.2][case as usize % 3];
            let now = [3, 4, 5].map(|k| point(8 * case + k) * size);
            let (stiffness, poisson) = (2.0, 0.3);
            let energy = |corners| flat.area * tension(&flat, corners, stiffness, poisson).energy;
            let t = tension(&flat, now, stiffness, poisson);
            let state = match t.principal {
                [a, b] if a > 0.0 && b > 0.0 => 0,
                [a, _] if a > 0.0 => 1,
                _ => 2,
            };
            states[state] += 1;
            let forces = tension_forces(&flat, &t);
            for k in 0..3 {
                let expected = slope(now[k], |p| {
                    let mut corners = now;
                    corners[k] = p;
                    energy(corners)
                });
                let scale = 1.0 + forces[k].length();
                assert!(
                    (forces[k] - expected).length() < 1e-5 * scale,
                    "{case} {k}: {} instead of {expected}",
                    forces[k]
                );
            }
        }
        assert!(states.iter().all(|n| *n > 5), "{states:?}");
    }

    #[test]
    fn hinges_have_the_slopes_that_are_written() {
        for case in 0..200 {
            let places = [0, 1, 2, 3].map(|k| point(4 * case + k));
            let (bent, gradients) = hinge(places);
            // Folded flat it jumps from one side to the other, and flat its root has no slope; differences say nothing there.
            if bent.abs() > 1.99 || bent.abs() < 1e-3 || gradients.iter().any(|g| g.length() > 20.0)
            {
                continue;
            }
            for k in 0..4 {
                let expected = -slope(places[k], |p| {
                    let mut moved = places;
                    moved[k] = p;
                    hinge(moved).0
                });
                let scale = 1.0 + expected.length_squared();
                assert!(
                    (gradients[k] - expected).length() < 1e-6 * scale,
                    "{case} {k}"
                );
            }
            let sum: DVec3 = gradients.iter().sum();
            assert!(sum.length() < 1e-12 * (1.0 + gradients[2].length()));
        }
    }

    #[test]
    fn a_flat_hinge_is_bent_as_a_hinge_is_and_costs_nothing_to_stretch() {
        for case in 0..200 {
            let flat = |k: u64| point(8 * case + k) * DVec3::new(1.0, 1.0, 0.0);
            let (from, to) = (flat(0), flat(1));
            let edge = to - from;
            let across = DVec3::Z.cross(edge).normalize();
            let side = |k: u64, sign: f64| {
                let off = flat(k);
                from + edge * off.x + across * (sign * (0.2 + off.y.abs()))
            };
            let (left, right) = (side(2, 1.0), side(3, -1.0));
            let rest = [from, to, left, right];
            let slopes = flat_hinge(rest);
            let bent = |places: [DVec3; 4]| {
                let parts = slopes.into_iter().zip(places);
                parts.fold(DVec3::ZERO, |sum, (c, x)| sum + x * c)
            };
            let scale = slopes.iter().map(|c| c.abs()).sum::<f64>();
            // Sheared and stretched as a whole.
            let stretched = rest.map(|p| DVec3::new(1.3 * p.x + 0.2 * p.y, 0.8 * p.y, 0.1 * p.x));
            assert!(bent(stretched).length() < 1e-13 * scale);
            // Turned about the edge.
            let turn = rotation::from_scaled_axis(edge.normalize() * (3.0 * noise(case)));
            let mut folded = rest;
            folded[2] = from + turn * (left - from);
            let (exact, gradients) = hinge(folded);
            assert!(
                (bent(folded).length() - exact.abs()).abs() < 1e-12 * scale,
                "{case}"
            );
            // Where it is nearly flat, the gradients agree, too.
            let little = rotation::from_scaled_axis(edge.normalize() * 1e-5);
            folded[2] = from + little * (left - from);
            let gradients_flat = hinge(folded).1;
            for (c, g) in slopes.into_iter().zip(gradients_flat) {
                assert!((c.abs() - g.length()).abs() < 1e-5 * scale);
            }
            assert!(gradients.iter().all(|g| g.is_finite()));
        }
    }

    #[test]
    fn pulled_both_ways_a_sheet_has_the_tension_of_plane_stress() {
        let rest = [DVec3::ZERO, DVec3::X, DVec3::Y];
        let flat = Flat::new(rest);
        let t = tension(&flat, rest.map(|p| p * 1.1), 5.0, 0.25);
        let expected = 5.0 * 0.1 / (1.0 - 0.25);
        assert!(t.principal.iter().all(|s| (s - expected).abs() < 1e-12));
        // Pulled one way and narrowed more than by itself: wrinkled, and only pulled.
        let narrow = rest.map(|p| p * DVec3::new(1.1, 0.5, 1.0));
        let t = tension(&flat, narrow, 5.0, 0.25);
        assert!((t.principal[0] - 0.5).abs() < 1e-12 && t.principal[1] == 0.0);
        assert!(t.now[0].abs_diff_eq(DVec3::X, 1e-12));
        // Pushed: nothing.
        let t = tension(&flat, rest.map(|p| p * 0.9), 5.0, 0.25);
        assert_eq!((t.principal, t.energy), ([0.0; 2], 0.0));
    }

    #[test]
    fn a_spring_pulls_along_itself() {
        let (force, tension) = spring(DVec3::new(0.0, 3.0, 4.0), 4.5, 2.0);
        assert!((tension - 1.0).abs() < 1e-15);
        assert!(force.abs_diff_eq(DVec3::new(0.0, 0.6, 0.8), 1e-15));
        assert_eq!(spring(DVec3::ZERO, 1.0, 2.0).0, DVec3::ZERO);
    }
}
