//! Rigid bodies and particles.

use super::{
    BodyLook, Collider, Item, Model,
    check::{self, Checker},
    form::{Solid, own_frame},
    items,
};
use crate::{
    file::{Body, FormSpec, GridSpec, Motion},
    load::{Key, Scene, SceneError},
};
use glam::{DQuat, DVec3};
use std::sync::Arc;
use trocar_collide::{
    grid::{Grid, GridError, Limits},
    rigid::{Form, Shape},
};
use trocar_dynamics::{
    Bodies, Hold, Kinematic, MassNode, MatterId, Nodes, Turning, masses::BadNode,
};
use trocar_math::{Pose, rotation};
use trocar_mesh::Surface;

/// How large the grid of a body may be: 16 MB, and some ten seconds to work it out.
const GRID: Limits = Limits {
    blocks: 1 << 18,
    values: 1 << 20,
};

/// A body made ready: what the model is told of it.
struct Ready {
    pose: Pose,
    node: Option<MassNode>,
    look: BodyLook,
    shape: Option<Shape>,
    grid: Option<Arc<Grid>>,
    friction: [f64; 2],
    restitution: f64,
}

impl Model {
    /// Bodies that go their own way, whatever acts on them. They are matter whose motion is prescribed and come before all
    /// that moves.
    pub(super) fn add_fixtures(&mut self, scene: &Scene) -> Result<(), SceneError> {
        let mut frames = Vec::new();
        let (mut looks, mut colliders) = (Vec::new(), Vec::new());
        let matter = MatterId(self.matters.len() as u32);
        for item in items(scene, |s| &s.file.body).filter(|i| i.item.motion != Motion::Dynamic) {
            let (_, ready) = ready(scene, &item)?;
            let node = frames.len() as u32;
            frames.push((ready.pose.position, ready.pose.rotation));
            let moves = item.item.motion == Motion::Kinematic;
            let course = |v: [f64; 3]| if moves { v.into() } else { DVec3::ZERO };
            self.courses
                .push((course(item.item.velocity), course(item.item.spin)));
            place(ready, matter, node, &mut looks, &mut colliders);
        }
        if !frames.is_empty() {
            let start = Nodes::at_rest(&frames, &[]);
            self.fixtures = Some(self.add("fixtures", Box::new(Kinematic::default()), start));
            self.looks.extend(looks);
            self.colliders.extend(colliders);
        }
        Ok(())
    }

    pub(super) fn add_bodies(&mut self, scene: &Scene, turning: Turning) -> Result<(), SceneError> {
        let (mut nodes, mut frames, mut motions) = (Vec::new(), Vec::new(), Vec::new());
        let (mut checks, mut holds) = (Vec::new(), Vec::new());
        let matter = MatterId(self.matters.len() as u32);
        for item in items(scene, |s| &s.file.body).filter(|i| i.item.motion == Motion::Dynamic) {
            let (check, mut ready) = ready(scene, &item)?;
            let node = frames.len() as u32;
            if item.item.rest_stiffness > 0.0 || item.item.rest_torsion > 0.0 {
                holds.push(Hold {
                    body: node,
                    place: ready.pose,
                    stiffness: item.item.rest_stiffness,
                    torsion: item.item.rest_torsion,
                });
            }
            nodes.extend(ready.node.take());
            frames.push((ready.pose.position, ready.pose.rotation));
            // The file speaks of the body's origin; the body moves about its centre of mass.
            let spin = DVec3::from(item.item.spin);
            let arm = ready.pose.position - DVec3::from(item.item.position);
            motions.push((DVec3::from(item.item.velocity) + spin.cross(arm), spin));
            place(ready, matter, node, &mut self.looks, &mut self.colliders);
            checks.push(check);
        }
        let mut points = Vec::new();
        for Item {
            source,
            index,
            item,
        } in items(scene, |s| &s.file.particle)
        {
            let check = Checker {
                source,
                table: "particle",
                index,
            };
            check.points(&[item.position], "position")?;
            check.mass(item.mass, &["mass".into()])?;
            check.finite(&[item.velocity], "velocity")?;
            nodes.push(MassNode::point(item.mass));
            points.push(item.position.into());
            motions.push((item.velocity.into(), DVec3::ZERO));
            self.particles.push(item.name.clone());
            checks.push(check);
        }
        if nodes.is_empty() {
            return Ok(());
        }
        let mut start = Nodes::at_rest(&frames, &points);
        for (i, (velocity, spin)) in motions.into_iter().enumerate() {
            start.velocity[i] = velocity;
            if i < frames.len() {
                start.spin[i] = spin;
            }
        }
        let wrong =
            |bad: BadNode| checks[bad.node].error(&[], bad.reason, "Correct its mass or its form.");
        let mut bodies = Bodies::new(&nodes, turning).map_err(wrong)?;
        for hold in holds {
            bodies.hold(hold).map_err(wrong)?;
        }
        self.bodies = Some(self.add("bodies", Box::new(bodies), start));
        Ok(())
    }
}

/// Tells the model of a body.
fn place(
    ready: Ready,
    matter: MatterId,
    node: u32,
    looks: &mut Vec<BodyLook>,
    colliders: &mut Vec<Collider>,
) {
    looks.push(BodyLook {
        at: (matter, node),
        ..ready.look
    });
    if let Some(shape) = ready.shape {
        colliders.push(Collider {
            at: (matter, node),
            shape,
            grid: ready.grid,
            friction: ready.friction,
            restitution: ready.restitution,
        });
    }
}

/// Checks a body and works out its form, its mass and its own frame.
fn ready<'a>(
    scene: &'a Scene,
    &Item {
        source,
        index,
        item,
    }: &Item<'a, Body>,
) -> Result<(Checker<'a>, Ready), SceneError> {
    let check = Checker {
        source,
        table: "body",
        index,
    };
    let dynamic = item.motion == Motion::Dynamic;
    check.points(&[item.position], "position")?;
    check.share(&item.colour, "colour")?;
    check.share(&[item.restitution], "restitution")?;
    check.finite(
        &[item.rotation, item.velocity, item.spin],
        "rotation, velocity and spin",
    )?;
    for (value, most, key) in [
        (item.rotation, 1e3, "rotation"),
        (item.velocity, 1e4, "velocity"),
        (item.spin, 1e5, "spin"),
    ] {
        if DVec3::from(value).length() > most {
            return Err(check.error(
                &[key.into()],
                format!("a {key} of {} is out of range", DVec3::from(value).length()),
                format!("It must be no more than {most}."),
            ));
        }
    }
    check.friction(item.friction, &["friction".into()])?;
    check_rest(&check, item)?;
    let form = form(&check, item)?;
    let solid = Solid::new(&check, scene, &form, dynamic)?;
    let node = if dynamic {
        Some(mass(&check, item, &solid)?)
    } else {
        None
    };
    let frame = node.map_or(Pose::IDENTITY, |n| n.1);
    let user = Pose::new(
        item.position.into(),
        rotation::from_scaled_axis(item.rotation.into()),
    );
    let inside = Pose::new(
        frame.rotation.conjugate() * -frame.position,
        frame.rotation.conjugate(),
    );
    let shape = if item.collide {
        let placed = if frame == Pose::IDENTITY {
            solid.form.clone()
        } else {
            moved(solid.form.clone(), &inside)
        };
        Some(
            Shape::new(&placed)
                .map_err(|e| check.error(&["form".into()], e.to_string(), "Correct its form."))?,
        )
    } else {
        None
    };
    if dynamic && shape.as_ref().is_some_and(|s| !s.can_be_dynamic()) {
        return Err(check.error(
            &["form".into()],
            "a body of this form can't move by itself",
            "Let it be static or kinematic, or give it another form.",
        ));
    }
    let mut surface = solid.surface;
    for p in &mut surface.positions {
        *p = inside.point(*p);
    }
    let grid = match item.grid {
        Some(spec) => Some(Arc::new(grid(&check, item, &surface, spec)?)),
        None => None,
    };
    let ready = Ready {
        pose: user.compose(&frame),
        node: node.map(|n| n.0),
        look: BodyLook {
            name: item.name.clone(),
            at: (MatterId::WORLD, 0),
            frame,
            surface,
            colour: item.colour,
        },
        shape,
        grid,
        friction: item.friction,
        restitution: item.restitution,
    };
    Ok((check, ready))
}

/// The distance grid over the surface of a body, in its own frame (F12–F20).
fn grid(
    check: &Checker<'_>,
    item: &Body,
    surface: &Surface,
    spec: GridSpec,
) -> Result<Grid, SceneError> {
    let key: Key = "grid".into();
    if !matches!(item.form, Some(FormSpec::Mesh(_))) {
        return Err(check.error(
            &[key],
            "only a body whose form is a mesh has a distance grid",
            "Leave it out: other forms are met exactly.",
        ));
    }
    if !item.collide {
        return Err(check.error(
            &[key],
            "nothing touches this body, so that it needs no distance grid",
            "Leave it out, or let it collide.",
        ));
    }
    Grid::within(&surface.positions, &surface.triangles, spec.cell, GRID).map_err(|error| {
        let place: &[Key] = match error {
            GridError::Cell { .. } | GridError::Large { .. } => &[key, "cell".into()],
            _ => &["form".into()],
        };
        check.error(
            place,
            format!("it has no distance grid: {error}"),
            "Correct its mesh or its cells, or leave out the grid.",
        )
    })
}

/// What damps a body and what draws it back to where it starts (K55).
fn check_rest(check: &Checker<'_>, item: &Body) -> Result<(), SceneError> {
    let inertia = item.inertia.map(|j| j.into_iter().fold(0.0, f64::max));
    for (value, key) in [
        (item.damping, "damping"),
        (item.turn_damping, "turn_damping"),
        (item.rest_stiffness, "rest_stiffness"),
        (item.rest_torsion, "rest_torsion"),
        (inertia.unwrap_or(0.0), "inertia"),
    ] {
        if !(0.0..=1e9).contains(&value) {
            return Err(check.error(
                &[key.into()],
                format!("its {key} is {value}; it must be at least 0 and no more than 1e9"),
                "Correct the number.",
            ));
        }
        if value != 0.0 && item.motion != Motion::Dynamic {
            return Err(check.error(
                &[key.into()],
                format!("{key} is for bodies that move by what acts on them"),
                "Leave it out, or let the body be dynamic.",
            ));
        }
    }
    // Much less than a speck of dust, and divisions would lose all digits.
    if let Some(j) = item.inertia.filter(|j| !j.iter().all(|j| *j >= 1e-15)) {
        return Err(check.error(
            &["inertia".into()],
            format!("its moments of inertia are {j:?}; each must be positive"),
            "Give three numbers in kg·m², or leave them out.",
        ));
    }
    Ok(())
}

/// The form a body has: the one it names, or a box.
fn form(check: &Checker<'_>, item: &Body) -> Result<FormSpec, SceneError> {
    match (&item.form, item.half_extents) {
        (Some(form), None) => Ok(form.clone()),
        (None, Some(half)) => {
            for half in half {
                check.size(half, "half_extents")?;
                if half < check::LEAST_EXTENT {
                    return Err(check.error(
                        &["half_extents".into()],
                        format!("a half extent of {half:?} m is too small"),
                        "Use a particle for what has no size.",
                    ));
                }
            }
            Ok(FormSpec::Box(half))
        }
        _ => Err(check.error(
            &[],
            "a body has one form",
            "Give either `form` or `half_extents`.",
        )),
    }
}

/// The mass of a dynamic body, and its own frame in the one the file speaks of.
fn mass(check: &Checker<'_>, item: &Body, solid: &Solid) -> Result<(MassNode, Pose), SceneError> {
    let Some(measured) = &solid.mass else {
        return Err(check.error(
            &["form".into()],
            "a body of this form has no mass",
            "Let it be static or kinematic, or give it another form.",
        ));
    };
    let (mass, key): (f64, Key) = match (item.mass, item.density) {
        (Some(mass), None) => (mass, "mass".into()),
        (None, Some(density)) => (measured.mass * density / 1000.0, "density".into()),
        _ => {
            return Err(check.error(
                &[],
                "a body that moves needs a mass",
                "Give either `mass` in kg or `density` in kg/m³.",
            ));
        }
    };
    check.mass(mass, &[key])?;
    let measured = measured
        .with_mass(mass)
        .map_err(|e| check.error(&[], e.to_string(), "Correct its mass or its form."))?;
    let (frame, inertia) = match item.inertia {
        // They are about the axes that the file speaks of.
        Some(given) => (Pose::new(measured.centre, DQuat::IDENTITY), given.into()),
        None => own_frame(&measured),
    };
    let mut node = MassNode {
        damping: item.damping,
        ..MassNode::body(mass, inertia)
    };
    if let Some(rigid) = &mut node.rigid {
        rigid.damping = item.turn_damping;
    }
    Ok((node, frame))
}

/// A form in another frame.
fn moved(form: Form, to: &Pose) -> Form {
    match form {
        Form::Compound(parts) => Form::Compound(
            parts
                .into_iter()
                .map(|(pose, form)| (to.compose(&pose), form))
                .collect(),
        ),
        form => Form::Compound(vec![(*to, form)]),
    }
}
