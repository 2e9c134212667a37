//! Mass, centre and moments of inertia of solid bodies (B13, B14).
//!
//! A rigid body wants a frame at its centre of mass, turned so that its inertia is diagonal there. [`MassProperties`]
//! gives that frame for closed surfaces of one density, exactly (the integrals over a polyhedron are polynomials of its
//! corners; Mirtich 1996), for the usual solids in closed form, and for things put together from them.

use glam::{DMat3, DQuat, DVec3};
use trocar_math::{Pose, rotation::outer, symmetric};

use crate::surface::{Surface, SurfaceError};

/// How far moments may break m₁ + m₂ ≥ m₃, as a part of the largest: rounding, and no more.
const TRIANGLE_SLACK: f64 = 1e-9;

/// Less of its bounding box than this, and a surface counts as flat: what is left is cancellation.
const LEAST_FILL: f64 = 1e-12;

/// How a body resists being moved and turned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassProperties {
    /// Mass, kg.
    pub mass: f64,
    /// Centre of mass, in the frame of what was measured, m.
    pub centre: DVec3,
    /// Principal moments of inertia about the centre, kg·m², ascending.
    pub inertia: DVec3,
    /// Turns vectors of the principal axes into vectors of the frame of what was measured.
    pub axes: DQuat,
    /// Inertia tensor about the centre along the axes of the frame of what was measured, kg·m².
    pub tensor: DMat3,
}

/// Why something has no mass properties.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MassError {
    /// The surface is not fit for use at all.
    #[error(transparent)]
    Surface(#[from] SurfaceError),
    /// The surface has holes, so nothing says what is inside.
    #[error(
        "the surface is open: {rims} edge(s) have one triangle only; close the holes, or give mass and moments"
    )]
    Open {
        /// How many edges are rims.
        rims: usize,
    },
    /// Neighbouring triangles disagree about which side is outside.
    #[error("{twisted} edge(s) have triangles that face opposite ways; repair the surface")]
    Twisted {
        /// How many edges.
        twisted: usize,
    },
    /// All triangles face inwards.
    #[error("the surface is inside out: its volume is {volume} m³; flip its triangles")]
    Inverted {
        /// The signed volume, m³, below zero.
        volume: f64,
    },
    /// There is nothing inside.
    #[error("the surface encloses no volume ({volume} m³); give mass and moments, or a solid")]
    Flat {
        /// The signed volume, m³.
        volume: f64,
    },
    /// A density or a mass is not a positive number.
    #[error("{name} is {value}, but must be a positive number")]
    NotPositive {
        /// What it is: density, mass, radius…
        name: &'static str,
        /// What it was.
        value: f64,
    },
    /// No arrangement of mass has these moments.
    #[error(
        "principal moments {moments} belong to no body: each must be at most the sum of the other two"
    )]
    Impossible {
        /// The moments, kg·m².
        moments: DVec3,
    },
    /// Nothing was put together.
    #[error("there are no parts; name at least one")]
    Empty,
}

/// `value` if it is a positive number.
fn positive(name: &'static str, value: f64) -> Result<f64, MassError> {
    if value.is_finite() && value > 0.0 {
        Ok(value)
    } else {
        Err(MassError::NotPositive { name, value })
    }
}

/// Inertia tensor of a unit mass at `r` about the origin.
fn point_tensor(r: DVec3) -> DMat3 {
    DMat3::from_diagonal(DVec3::splat(r.length_squared())) - outer(r, r)
}

impl MassProperties {
    /// From `mass` (kg), `centre` (m) and the inertia `tensor` about it (kg·m²).
    pub fn new(mass: f64, centre: DVec3, tensor: DMat3) -> Result<Self, MassError> {
        positive("mass", mass)?;
        let tensor = (tensor + tensor.transpose()) * 0.5;
        let (moments, axes) = symmetric::principal(&tensor);
        let largest = moments.z;
        if !moments.is_finite() || !centre.is_finite() {
            return Err(MassError::Impossible { moments });
        }
        // Ascending, so that two comparisons are all six.
        if moments.x <= 0.0 || moments.x + moments.y < largest * (1.0 - TRIANGLE_SLACK) {
            return Err(MassError::Impossible { moments });
        }
        Ok(Self {
            mass,
            centre,
            inertia: moments,
            axes,
            tensor,
        })
    }

    /// A closed `surface` filled with `density` (kg/m³).
    ///
    /// Exact for the polyhedron: the sum over the signed tetrahedra between the triangles and one point. That point is
    /// the middle of the surface, so that a small body far from the origin keeps its digits.
    pub fn of_surface(surface: &Surface, density: f64) -> Result<Self, MassError> {
        positive("density", density)?;
        surface.check()?;
        let topology = surface.topology();
        if !topology.is_closed() {
            return Err(MassError::Open {
                rims: topology.boundary_edges,
            });
        }
        if !topology.is_oriented() {
            return Err(MassError::Twisted {
                twisted: topology.twisted_edges,
            });
        }
        let Some(bounds) = surface.bounds() else {
            return Err(SurfaceError::Empty.into());
        };
        let middle = bounds.centre();
        let corners = surface
            .triangles
            .iter()
            .filter_map(|&t| surface.corners(t))
            .map(|corners| corners.map(|c| c - middle));
        let Integrals {
            volume,
            first,
            second,
        } = Integrals::over(corners);

        let size = bounds.max - bounds.min;
        let longest = size.max_element();
        if volume.abs() <= LEAST_FILL * longest * longest * longest {
            return Err(MassError::Flat { volume });
        }
        if volume < 0.0 {
            return Err(MassError::Inverted { volume });
        }
        let centre = first / volume;
        // ∫ x xᵀ about the centre, and from it the inertia: trace − itself.
        let spread = second - outer(centre, centre) * volume;
        let trace = spread.x_axis.x + spread.y_axis.y + spread.z_axis.z;
        let tensor = (DMat3::from_diagonal(DVec3::splat(trace)) - spread) * density;
        Self::new(volume * density, middle + centre, tensor)
    }

    /// A solid ball about the origin: `radius` in m, `density` in kg/m³.
    pub fn of_ball(radius: f64, density: f64) -> Result<Self, MassError> {
        let r = positive("radius", radius)?;
        let mass = positive("density", density)? * 4.0 / 3.0 * std::f64::consts::PI * r * r * r;
        Self::diagonal(mass, DVec3::splat(0.4 * mass * r * r))
    }

    /// A solid box about the origin with half edges `half` (m), `density` in kg/m³.
    pub fn of_box(half: DVec3, density: f64) -> Result<Self, MassError> {
        for edge in half.to_array() {
            positive("half edge", edge)?;
        }
        let mass = positive("density", density)? * 8.0 * half.x * half.y * half.z;
        let s = half * half;
        Self::diagonal(
            mass,
            DVec3::new(s.y + s.z, s.x + s.z, s.x + s.y) * (mass / 3.0),
        )
    }

    /// A solid cylinder about the origin, along y: `half_height` and `radius` in m, `density` in kg/m³.
    pub fn of_cylinder(half_height: f64, radius: f64, density: f64) -> Result<Self, MassError> {
        let h = positive("half height", half_height)?;
        let r = positive("radius", radius)?;
        let mass = positive("density", density)? * std::f64::consts::PI * r * r * 2.0 * h;
        let across = mass * (0.25 * r * r + h * h / 3.0);
        Self::diagonal(mass, DVec3::new(across, 0.5 * mass * r * r, across))
    }

    /// A solid capsule about the origin, along y: a cylinder of `half_length` (m) with half a ball of `radius` (m) at
    /// each end; `density` in kg/m³.
    pub fn of_capsule(half_length: f64, radius: f64, density: f64) -> Result<Self, MassError> {
        let h = positive("half length", half_length)?;
        let r = positive("radius", radius)?;
        positive("density", density)?;
        let barrel = density * std::f64::consts::PI * r * r * 2.0 * h;
        let ball = density * 4.0 / 3.0 * std::f64::consts::PI * r * r * r;
        // Half a ball has its centre 3/8 r above its flat side; moving both halves out by h adds h² + 3/4 h r.
        let across =
            barrel * (0.25 * r * r + h * h / 3.0) + ball * (0.4 * r * r + h * h + 0.75 * h * r);
        let along = 0.5 * barrel * r * r + 0.4 * ball * r * r;
        Self::diagonal(barrel + ball, DVec3::new(across, along, across))
    }

    /// `parts` in their places, rigidly joined. Where they overlap, mass counts twice.
    pub fn of_compound(parts: &[(Pose, Self)]) -> Result<Self, MassError> {
        if parts.is_empty() {
            return Err(MassError::Empty);
        }
        let mass: f64 = parts.iter().map(|(_, part)| part.mass).sum();
        positive("mass", mass)?;
        let centre = parts
            .iter()
            .map(|(pose, part)| pose.point(part.centre) * part.mass)
            .sum::<DVec3>()
            / mass;
        let mut tensor = DMat3::ZERO;
        for (pose, part) in parts {
            let turn = DMat3::from_quat(pose.rotation);
            let offset = pose.point(part.centre) - centre;
            tensor += turn * part.tensor * turn.transpose() + point_tensor(offset) * part.mass;
        }
        Self::new(mass, centre, tensor)
    }

    /// The same body with another `mass` (kg), evenly spread as before.
    pub fn with_mass(&self, mass: f64) -> Result<Self, MassError> {
        let scale = positive("mass", mass)? / self.mass;
        Ok(Self {
            mass,
            inertia: self.inertia * scale,
            tensor: self.tensor * scale,
            ..*self
        })
    }

    /// Where the body frame (centre of mass, principal axes) is in the frame of what was measured.
    pub fn frame(&self) -> Pose {
        Pose::new(self.centre, self.axes)
    }

    /// From moments along the coordinate axes.
    fn diagonal(mass: f64, moments: DVec3) -> Result<Self, MassError> {
        Self::new(mass, DVec3::ZERO, DMat3::from_diagonal(moments))
    }
}

/// Integrals of 1, x and x xᵀ over a solid.
struct Integrals {
    /// m³.
    volume: f64,
    /// m⁴.
    first: DVec3,
    /// m⁵.
    second: DMat3,
}

impl Integrals {
    /// Over the solid whose surface has these triangles: sums over the tetrahedra between them and the origin. For one
    /// with corners 0, a, b, c and s = a + b + c: V = a·(b×c)/6, ∫x = V s/4, ∫xxᵀ = V (aaᵀ + bbᵀ + ccᵀ + ssᵀ)/20.
    fn over(triangles: impl Iterator<Item = [DVec3; 3]>) -> Self {
        let mut sum = Self {
            volume: 0.0,
            first: DVec3::ZERO,
            second: DMat3::ZERO,
        };
        for [a, b, c] in triangles {
            let volume = a.dot(b.cross(c)) / 6.0;
            let s = a + b + c;
            sum.volume += volume;
            sum.first += s * (volume / 4.0);
            sum.second += (outer(a, a) + outer(b, b) + outer(c, c) + outer(s, s)) * (volume / 20.0);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use trocar_math::rotation;

    use super::*;
    use crate::surface::tests::tetrahedron;

    /// The box between two corners, facing outwards.
    fn block(low: DVec3, high: DVec3) -> Surface {
        let positions = (0..8)
            .map(|i| {
                DVec3::new(
                    if i & 1 == 0 { low.x } else { high.x },
                    if i & 2 == 0 { low.y } else { high.y },
                    if i & 4 == 0 { low.z } else { high.z },
                )
            })
            .collect();
        let quads = [
            [0, 4, 6, 2],
            [1, 3, 7, 5],
            [0, 1, 5, 4],
            [2, 6, 7, 3],
            [0, 2, 3, 1],
            [4, 5, 7, 6],
        ];
        let triangles = quads
            .iter()
            .flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]])
            .collect();
        Surface {
            positions,
            triangles,
        }
    }

    /// An octahedron whose triangles are split in four `splits` times, all corners on the unit sphere.
    fn sphere(splits: usize) -> Surface {
        let mut positions = vec![
            DVec3::X,
            DVec3::NEG_X,
            DVec3::Y,
            DVec3::NEG_Y,
            DVec3::Z,
            DVec3::NEG_Z,
        ];
        let mut triangles: Vec<[u32; 3]> = vec![
            [0, 2, 4],
            [2, 1, 4],
            [1, 3, 4],
            [3, 0, 4],
            [2, 0, 5],
            [1, 2, 5],
            [3, 1, 5],
            [0, 3, 5],
        ];
        for _ in 0..splits {
            let mut middles = std::collections::BTreeMap::new();
            let mut next = Vec::new();
            for t in &triangles {
                let mut middle = |i: u32, j: u32| {
                    *middles.entry((i.min(j), i.max(j))).or_insert_with(|| {
                        positions.push((positions[i as usize] + positions[j as usize]).normalize());
                        positions.len() as u32 - 1
                    })
                };
                let (ab, bc, ca) = (middle(t[0], t[1]), middle(t[1], t[2]), middle(t[2], t[0]));
                next.extend([[t[0], ab, ca], [t[1], bc, ab], [t[2], ca, bc], [ab, bc, ca]]);
            }
            triangles = next;
        }
        Surface {
            positions,
            triangles,
        }
    }

    fn close(a: DVec3, b: DVec3, tolerance: f64) -> bool {
        (a - b).length() <= tolerance * (1.0 + b.length())
    }

    #[test]
    fn a_box_as_a_surface_is_the_box_in_closed_form() {
        let half = DVec3::new(0.5, 1.5, 1.0);
        let offset = DVec3::new(100.0, -20.0, 3.0);
        let measured =
            MassProperties::of_surface(&block(offset - half, offset + half), 700.0).unwrap();
        let exact = MassProperties::of_box(half, 700.0).unwrap();
        assert!((measured.mass - exact.mass).abs() < 1e-9 * exact.mass);
        assert!(close(measured.inertia, exact.inertia, 1e-12));
        assert!((measured.centre - offset).length() < 1e-12);
        // m/12 (h² + d²), by hand.
        let m = 700.0 * 6.0;
        let by_hand = DVec3::new(m / 12.0 * 5.0, m / 12.0 * 10.0, m / 12.0 * 13.0);
        assert!(close(exact.inertia, by_hand, 1e-14), "{}", exact.inertia);
    }

    #[test]
    fn a_corner_of_a_cube_has_its_known_moments() {
        // ∫x² = 1/60 and ∫xy = 1/120 over the unit tetrahedron; its centre is at 1/4 of each.
        let t = MassProperties::of_surface(&tetrahedron(), 6.0).unwrap();
        assert!((t.mass - 1.0).abs() < 1e-15);
        assert!(close(t.centre, DVec3::splat(0.25), 1e-15));
        let (square, mixed) = (6.0 / 60.0 - 1.0 / 16.0, 6.0 / 120.0 - 1.0 / 16.0);
        assert!((t.tensor.x_axis.x - 2.0 * square).abs() < 1e-15);
        assert!((t.tensor.x_axis.y + mixed).abs() < 1e-15);
    }

    #[test]
    fn spheres_of_triangles_converge_to_the_ball() {
        let ball = MassProperties::of_ball(1.0, 2.0).unwrap();
        assert!(close(ball.inertia, DVec3::splat(0.4 * ball.mass), 1e-15));
        let error = |splits: usize| {
            let s = MassProperties::of_surface(&sphere(splits), 2.0).unwrap();
            assert!(s.centre.length() < 1e-14);
            (s.inertia - ball.inertia).length() / ball.inertia.length()
        };
        let errors = [error(2), error(3), error(4)];
        // Second order: halving the edges quarters the error.
        assert!(errors.windows(2).all(|e| e[0] / e[1] > 3.5), "{errors:?}");
        assert!(errors[2] < 0.01, "{errors:?}");
    }

    #[test]
    fn a_capsule_is_between_its_cylinder_and_the_ball_it_shrinks_to() {
        let almost_ball = MassProperties::of_capsule(1e-9, 0.3, 5.0).unwrap();
        let ball = MassProperties::of_ball(0.3, 5.0).unwrap();
        assert!(close(almost_ball.inertia, ball.inertia, 1e-8));
        let thin = MassProperties::of_capsule(1.0, 1e-6, 5.0).unwrap();
        let needle = MassProperties::of_cylinder(1.0, 1e-6, 5.0).unwrap();
        assert!((thin.inertia.z / needle.inertia.z - 1.0).abs() < 1e-5);
        // The barrel and two halves of a ball, summed by hand with the parallel axes.
        let (h, r) = (0.4, 0.1);
        let capsule = MassProperties::of_capsule(h, r, 1.0).unwrap();
        let half = 2.0 / 3.0 * std::f64::consts::PI * r * r * r;
        let own = 0.4 * half * r * r - half * (0.375 * r) * (0.375 * r);
        let out = h + 0.375 * r;
        let barrel = MassProperties::of_cylinder(h, r, 1.0).unwrap();
        let across = barrel.inertia.z + 2.0 * (own + half * out * out);
        assert!((capsule.inertia.z - across).abs() < 1e-15);
    }

    #[test]
    fn a_cylinder_of_triangles_converges_to_the_cylinder() {
        let sides = 400_u32;
        let mut surface = Surface::default();
        for i in 0..sides {
            let (s, c) = trocar_math::real::sin_cos(
                2.0 * std::f64::consts::PI * f64::from(i) / f64::from(sides),
            );
            surface.positions.push(DVec3::new(0.2 * c, -0.5, 0.2 * s));
            surface.positions.push(DVec3::new(0.2 * c, 0.5, 0.2 * s));
        }
        surface.positions.push(DVec3::new(0.0, -0.5, 0.0));
        surface.positions.push(DVec3::new(0.0, 0.5, 0.0));
        for i in 0..sides {
            let (a, b) = (2 * i, 2 * ((i + 1) % sides));
            surface.triangles.extend([
                [a, a + 1, b],
                [b, a + 1, b + 1],
                [2 * sides, a, b],
                [2 * sides + 1, b + 1, a + 1],
            ]);
        }
        let measured = MassProperties::of_surface(&surface, 1000.0).unwrap();
        let exact = MassProperties::of_cylinder(0.5, 0.2, 1000.0).unwrap();
        assert!(close(measured.inertia, exact.inertia, 1e-3));
    }

    #[test]
    fn two_half_boxes_are_a_box() {
        let half = DVec3::new(0.25, 1.5, 1.0);
        let part = MassProperties::of_box(half, 900.0).unwrap();
        let quarter = rotation::from_scaled_axis(DVec3::new(0.0, 0.0, std::f64::consts::PI));
        let parts = [
            (Pose::new(DVec3::new(0.25, 7.0, 0.0), DQuat::IDENTITY), part),
            (Pose::new(DVec3::new(-0.25, 7.0, 0.0), quarter), part),
        ];
        let whole = MassProperties::of_compound(&parts).unwrap();
        let exact = MassProperties::of_box(DVec3::new(0.5, 1.5, 1.0), 900.0).unwrap();
        assert!((whole.mass - exact.mass).abs() < 1e-12 * exact.mass);
        assert!(close(whole.inertia, exact.inertia, 1e-13));
        assert!(close(whole.centre, DVec3::new(0.0, 7.0, 0.0), 1e-15));
    }

    #[test]
    fn what_cannot_have_a_mass_is_refused_by_name() {
        let mut open = tetrahedron();
        open.triangles.pop();
        assert_eq!(
            MassProperties::of_surface(&open, 1.0),
            Err(MassError::Open { rims: 3 })
        );
        let mut inverted = tetrahedron();
        inverted.flip();
        assert!(matches!(
            MassProperties::of_surface(&inverted, 1.0),
            Err(MassError::Inverted { volume }) if (volume + 1.0 / 6.0).abs() < 1e-15
        ));
        let mut twisted = tetrahedron();
        twisted.triangles[0].swap(0, 1);
        assert_eq!(
            MassProperties::of_surface(&twisted, 1.0),
            Err(MassError::Twisted { twisted: 3 })
        );
        let mut flat = tetrahedron();
        flat.positions[3] = DVec3::new(0.3, 0.3, 0.0);
        assert!(matches!(
            MassProperties::of_surface(&flat, 1.0),
            Err(MassError::Flat { .. })
        ));
        for density in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(MassProperties::of_surface(&tetrahedron(), density).is_err());
            assert!(MassProperties::of_ball(1.0, density).is_err());
        }
        assert!(MassProperties::of_box(DVec3::new(1.0, 0.0, 1.0), 1.0).is_err());
        assert_eq!(MassProperties::of_compound(&[]), Err(MassError::Empty));
        assert!(matches!(
            MassProperties::new(
                1.0,
                DVec3::ZERO,
                DMat3::from_diagonal(DVec3::new(1.0, 1.0, 2.1))
            ),
            Err(MassError::Impossible { .. })
        ));
        assert!(MassProperties::new(f64::NAN, DVec3::ZERO, DMat3::IDENTITY).is_err());
    }

    proptest! {
        #[test]
        fn moving_a_body_does_not_change_its_principal_moments(
            turn in prop::array::uniform3(-3.0..3.0_f64),
            place in prop::array::uniform3(-10.0..10.0_f64),
            size in prop::array::uniform3(0.1..2.0_f64),
        ) {
            let pose = Pose::new(
                DVec3::from_array(place),
                rotation::from_scaled_axis(DVec3::from_array(turn)),
            );
            let mut surface = tetrahedron();
            surface.positions.iter_mut().for_each(|p| *p *= DVec3::from_array(size));
            let before = MassProperties::of_surface(&surface, 1000.0).unwrap();
            surface.positions.iter_mut().for_each(|p| *p = pose.point(*p));
            let after = MassProperties::of_surface(&surface, 1000.0).unwrap();
            prop_assert!(close(after.inertia, before.inertia, 1e-12));
            prop_assert!(close(after.centre, pose.point(before.centre), 1e-12));
            // The principal axes carry the diagonal moments back to the tensor.
            let r = DMat3::from_quat(after.axes);
            let rebuilt = r * DMat3::from_diagonal(after.inertia) * r.transpose();
            let error = rebuilt - after.tensor;
            prop_assert!(error.to_cols_array().iter().all(|e| e.abs() < 1e-12 * after.inertia.z));
        }
    }
}
