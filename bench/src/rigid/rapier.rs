//! Rapier, in both precisions.

/// How Rapier keeps joints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joints {
    /// By impulses, with this many iterations.
    Impulse(usize),
    /// In reduced coordinates.
    Multibody,
}

macro_rules! precision {
    ($name:ident, $library:ident, $about:literal) => {
        #[doc = $about]
        pub mod $name {
            use super::Joints;
            use crate::rigid::{
                engine::Engine,
                plan::{GRAVITY, Moment, Plan, Solid},
            };
            use anyhow::{Context, Result};
            use glam::{DQuat, DVec3};
            use trocar_math::Pose;
            use $library::prelude::{
                ColliderBuilder, MassProperties, PhysicsWorld, Real, RigidBodyBuilder,
                RigidBodyHandle, Rotation, SphericalJointBuilder, Vector,
            };

            /// Rapier with a plan in it; all settings its own unless `joints` says otherwise.
            pub struct Rapier {
                world: PhysicsWorld,
                bodies: Vec<RigidBodyHandle>,
            }

            fn vector(v: DVec3) -> Vector {
                Vector::new(v.x as Real, v.y as Real, v.z as Real)
            }

            #[allow(
                clippy::unnecessary_cast,
                reason = "in one of the precisions it is none"
            )]
            fn back(v: Vector) -> DVec3 {
                DVec3::new(v.x as f64, v.y as f64, v.z as f64)
            }

            impl Rapier {
                pub fn new(plan: &Plan, joints: Joints) -> Result<Self> {
                    let mut world = PhysicsWorld::new();
                    world.gravity = vector(GRAVITY);
                    world.integration_parameters.dt = plan.step as Real;
                    if let Joints::Impulse(iterations) = joints {
                        world.integration_parameters.num_solver_iterations = iterations;
                    }
                    let ground = world.insert_body(RigidBodyBuilder::fixed());
                    let mut bodies = Vec::new();
                    for thing in &plan.things {
                        let builder = match thing.mass {
                            Some(_) => RigidBodyBuilder::dynamic(),
                            None => RigidBodyBuilder::fixed(),
                        };
                        let q = thing.pose.rotation;
                        let turn =
                            Rotation::from_xyzw(q.x as Real, q.y as Real, q.z as Real, q.w as Real);
                        let mut builder = builder
                            .translation(vector(thing.pose.position))
                            .linvel(vector(thing.velocity))
                            .angvel(vector(thing.spin))
                            .can_sleep(plan.sleep);
                        builder.position.rotation = turn.normalize();
                        let mass = thing.mass.unwrap_or(1.0);
                        let handle = if plan.collide {
                            let collider = match thing.solid {
                                Solid::Box(h) => {
                                    ColliderBuilder::cuboid(h.x as Real, h.y as Real, h.z as Real)
                                }
                                Solid::Ball(radius) => ColliderBuilder::ball(radius as Real),
                            };
                            let collider = collider
                                .mass(mass as Real)
                                .friction(plan.friction as Real)
                                .restitution(0.0);
                            world.insert(builder, collider).0
                        } else {
                            let inertia = vector(thing.solid.inertia() * mass);
                            let mass = MassProperties::new(Vector::ZERO, mass as Real, inertia);
                            world.insert_body(builder.additional_mass_properties(mass))
                        };
                        bodies.push(handle);
                    }
                    for joint in &plan.joints {
                        let a = joint.a.map_or(ground, |a| bodies[a]);
                        let ball = SphericalJointBuilder::new()
                            .local_anchor1(vector(joint.at_a))
                            .local_anchor2(vector(joint.at_b))
                            .contacts_enabled(false);
                        match joints {
                            Joints::Impulse(_) => {
                                world.insert_impulse_joint(a, bodies[joint.b], ball);
                            }
                            Joints::Multibody => {
                                let made = world.insert_multibody_joint(a, bodies[joint.b], ball);
                                made.context("Rapier refuses a joint")?;
                            }
                        }
                    }
                    Ok(Self { world, bodies })
                }
            }

            impl Engine for Rapier {
                fn step(&mut self) {
                    self.world.step();
                }

                #[allow(
                    clippy::unnecessary_cast,
                    reason = "in one of the precisions it is none"
                )]
                fn look(&self, moments: &mut Vec<Moment>) {
                    moments.clear();
                    moments.extend(self.bodies.iter().map(|&handle| {
                        let body = &self.world.bodies[handle];
                        let q = body.rotation();
                        let turn = DQuat::from_xyzw(q.x as f64, q.y as f64, q.z as f64, q.w as f64);
                        Moment {
                            pose: Pose::new(back(body.translation()), turn.normalize()),
                            velocity: back(body.linvel()),
                            spin: back(body.angvel()),
                        }
                    }));
                }

                fn contacts(&self) -> usize {
                    let pairs = self.world.contact_pairs();
                    let manifolds = pairs
                        .filter_map(|p| p.rigid())
                        .flat_map(|c| c.solver_manifolds());
                    manifolds.map(|m| m.data.solver_contacts.len()).sum()
                }
            }
        }
    };
}

precision!(single, rapier3d, "In f32.");
precision!(double, rapier3d_f64, "In f64.");
