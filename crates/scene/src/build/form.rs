//! What a body is made of: its form for collisions, its mass, its surface for the picture.

use super::check::Checker;
use crate::{
    file::{FormSpec, RodSpec},
    load::{Scene, SceneError},
};
use glam::{DMat3, DQuat, DVec3};
use trocar_collide::rigid::Form;
use trocar_math::{Pose, real, rotation};
use trocar_mesh::{MassProperties, Surface};

/// A body's form with all that follows from it, in the frame the scene file speaks of.
pub struct Solid {
    pub form: Form,
    /// Mass properties at 1000 kg/m³; none for what has no inside.
    pub mass: Option<MassProperties>,
    pub surface: Surface,
}

/// Pieces round a circle of a picture.
const ROUND: u32 = 32;

impl Solid {
    pub fn new(
        check: &Checker<'_>,
        scene: &Scene,
        spec: &FormSpec,
        dynamic: bool,
    ) -> Result<Self, SceneError> {
        let wrong = |problem: String| {
            check.error(
                &["form".into()],
                problem,
                "Correct its form; lengths are in metres.",
            )
        };
        let density = 1000.0;
        let of = |mass: Result<MassProperties, trocar_mesh::MassError>| {
            mass.map(Some).map_err(|e| wrong(e.to_string()))
        };
        let rod = |rod: &RodSpec| (rod.half_length, rod.radius);
        Ok(match spec {
            FormSpec::Ball(radius) => Self {
                form: Form::Ball { radius: *radius },
                mass: of(MassProperties::of_ball(*radius, density))?,
                surface: turned(&arc(0.0, *radius)),
            },
            FormSpec::Box(half) => {
                let half = DVec3::from(*half);
                Self {
                    form: Form::Box { half },
                    mass: of(MassProperties::of_box(half, density))?,
                    surface: cuboid(half),
                }
            }
            FormSpec::Capsule(spec) => {
                let (half_length, radius) = rod(spec);
                Self {
                    form: Form::Capsule {
                        half_length,
                        radius,
                    },
                    mass: of(MassProperties::of_capsule(half_length, radius, density))?,
                    surface: turned(&arc(half_length, radius)),
                }
            }
            FormSpec::Cylinder(spec) => {
                let (half_height, radius) = rod(spec);
                let profile = [
                    [0.0, -half_height],
                    [radius, -half_height],
                    [radius, half_height],
                    [0.0, half_height],
                ];
                Self {
                    form: Form::Cylinder {
                        half_height,
                        radius,
                    },
                    mass: of(MassProperties::of_cylinder(half_height, radius, density))?,
                    surface: turned(&profile),
                }
            }
            FormSpec::Hull(points) => {
                check.points(points, "form")?;
                let points: Vec<DVec3> = points.iter().map(|p| (*p).into()).collect();
                let surface = hull(points.clone()).map_err(wrong)?;
                Self {
                    form: Form::Hull { points },
                    mass: of(MassProperties::of_surface(&surface, density))?,
                    surface,
                }
            }
            FormSpec::Mesh(mesh) => {
                let read = scene
                    .mesh(check.source, &mesh.file)
                    .ok_or_else(|| wrong(format!("{} is missing", mesh.file)))?;
                let mut surface = read.clone();
                for p in &mut surface.positions {
                    *p *= mesh.scale;
                }
                let mass = MassProperties::of_surface(&surface, density);
                Self {
                    form: if dynamic {
                        Form::Hull {
                            points: surface.positions.clone(),
                        }
                    } else {
                        Form::Mesh {
                            vertices: surface.positions.clone(),
                            triangles: surface.triangles.clone(),
                        }
                    },
                    // What stands still needs no mass, and may be open.
                    mass: if dynamic { of(mass)? } else { mass.ok() },
                    surface,
                }
            }
            FormSpec::HalfSpace(normal) => {
                let up = DVec3::from(*normal)
                    .try_normalize()
                    .ok_or_else(|| wrong("its direction is none".into()))?;
                Self {
                    form: Form::HalfSpace { normal: up },
                    mass: None,
                    surface: plane(up),
                }
            }
            FormSpec::Compound(parts) => {
                let (mut forms, mut masses) = (Vec::new(), Vec::new());
                let mut surface = Surface::default();
                for part in parts {
                    check.points(&[part.position], "form")?;
                    check.points(&[part.rotation], "form")?;
                    let pose = Pose::new(
                        part.position.into(),
                        rotation::from_scaled_axis(part.rotation.into()),
                    );
                    let solid = Self::new(check, scene, &part.form, dynamic)?;
                    forms.push((pose, solid.form));
                    masses.extend(solid.mass.map(|m| (pose, m)));
                    let first = surface.positions.len() as u32;
                    surface
                        .positions
                        .extend(solid.surface.positions.iter().map(|p| pose.point(*p)));
                    let shifted = |t: &[u32; 3]| t.map(|n| n + first);
                    surface
                        .triangles
                        .extend(solid.surface.triangles.iter().map(shifted));
                }
                Self {
                    mass: if masses.len() == parts.len() {
                        of(MassProperties::of_compound(&masses))?
                    } else {
                        None
                    },
                    form: Form::Compound(forms),
                    surface,
                }
            }
        })
    }
}

/// Where the body's own frame lies in the frame its scene file speaks of, and its moments there (B14). A form that already
/// lies along its principal axes keeps its frame.
pub fn own_frame(mass: &MassProperties) -> (Pose, DVec3) {
    let diagonal = DVec3::new(
        mass.tensor.x_axis.x,
        mass.tensor.y_axis.y,
        mass.tensor.z_axis.z,
    );
    let rest = mass.tensor - DMat3::from_diagonal(diagonal);
    let askew = rest
        .to_cols_array()
        .iter()
        .fold(0.0_f64, |s, x| s.max(x.abs()));
    if askew < 1e-12 * diagonal.max_element() {
        (Pose::new(mass.centre, DQuat::IDENTITY), diagonal)
    } else {
        (mass.frame(), mass.inertia)
    }
}

/// Half a circle of `radius`, drawn out along y by `half` each way: (distance from y, y).
fn arc(half: f64, radius: f64) -> Vec<[f64; 2]> {
    let steps = ROUND / 2;
    (0..=steps)
        .flat_map(|k| {
            let angle = std::f64::consts::PI * (f64::from(k) / f64::from(steps) - 0.5);
            let (s, c) = real::sin_cos(angle);
            let at = |shift: f64| [radius * c.max(0.0), radius * s + shift];
            let middle = k * 2 == steps && half > 0.0;
            let shift = if k * 2 < steps { -half } else { half };
            [middle.then(|| at(-half)), Some(at(shift))]
        })
        .flatten()
        .collect()
}

/// A profile turned about y.
fn turned(profile: &[[f64; 2]]) -> Surface {
    let mut surface = Surface::default();
    for [radius, y] in profile {
        for k in 0..ROUND {
            let angle = std::f64::consts::TAU * f64::from(k) / f64::from(ROUND);
            let (s, c) = real::sin_cos(angle);
            surface
                .positions
                .push(DVec3::new(radius * s, *y, radius * c));
        }
    }
    for ring in 0..profile.len() as u32 - 1 {
        for k in 0..ROUND {
            let next = (k + 1) % ROUND;
            let at = |r: u32, k: u32| r * ROUND + k;
            let [a, b, c, d] = [
                at(ring, k),
                at(ring, next),
                at(ring + 1, next),
                at(ring + 1, k),
            ];
            // Poles are points: one of the two triangles has no area there.
            if profile[ring as usize][0] > 0.0 {
                surface.triangles.push([a, b, c]);
            }
            if profile[ring as usize + 1][0] > 0.0 {
                surface.triangles.push([a, c, d]);
            }
        }
    }
    surface
}

fn cuboid(half: DVec3) -> Surface {
    let positions = (0..8)
        .map(|k| half * DVec3::from([0, 1, 2].map(|a| if k >> a & 1 == 1 { 1.0 } else { -1.0 })))
        .collect();
    let faces: [[u32; 4]; 6] = [
        [0, 4, 6, 2],
        [1, 3, 7, 5],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 2, 3, 1],
        [4, 5, 7, 6],
    ];
    let triangles = faces
        .iter()
        .flat_map(|[a, b, c, d]| [[*a, *b, *c], [*a, *c, *d]])
        .collect();
    Surface {
        positions,
        triangles,
    }
}

/// A square of a half space, large enough to stand on.
fn plane(up: DVec3) -> Surface {
    let x = up.any_orthonormal_vector();
    let y = up.cross(x);
    let at = |a: f64, b: f64| (x * a + y * b) * 10.0;
    Surface {
        positions: vec![at(-1.0, -1.0), at(1.0, -1.0), at(1.0, 1.0), at(-1.0, 1.0)],
        triangles: vec![[0, 1, 2], [0, 2, 3]],
    }
}

fn hull(points: Vec<DVec3>) -> Result<Surface, String> {
    let shape =
        trocar_collide::rigid::Shape::new(&Form::Hull { points }).map_err(|e| e.to_string())?;
    let (positions, triangles) = shape
        .surfaces()
        .into_iter()
        .next()
        .ok_or("the hull has no surface")?;
    Ok(Surface {
        positions,
        triangles,
    })
}
