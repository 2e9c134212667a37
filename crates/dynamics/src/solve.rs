//! Impulses at the start of a substep that make its end right (B26, B27).

use crate::{Cast, Contact, Tie, TieKind, anchor::Support};
use glam::{DMat3, DVec3};
use serde::{Deserialize, Serialize};

/// How hard a solve tries.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    /// Sweeps over all constraints at most, ≥ 1.
    pub iterations: u32,
    /// Position error at which a tie is right, m.
    pub position: f64,
    /// Velocity error at which a tie is right, m/s.
    pub velocity: f64,
    /// Depth at which a contact is right, m.
    pub depth: f64,
    /// Speed at which something found inside a hull is put out of it, m/s. Keeps a deep first
    /// contact from being answered with a blow.
    pub recovery: f64,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            iterations: 60,
            position: 5e-10,
            velocity: 1e-9,
            depth: 1e-6,
            recovery: 0.5,
        }
    }
}

/// What a solve achieved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Sweeps made.
    pub iterations: u32,
    /// Greatest error left, in the unit of what was solved.
    pub error: f64,
    /// True if every constraint is within its tolerance.
    pub converged: bool,
}

/// A constraint made ready for sweeping. Kept in [`Workspace`] so that no sweep allocates.
#[derive(Clone, Copy, Debug)]
struct Row {
    a: Support,
    b: Support,
    /// Inverse of the response at the start; near enough for the sweeps to converge.
    inverse: DMat3,
    /// Direction of the impulse of a distance or a contact, and how the points answer it. It is the
    /// direction at the *start* of the substep, where the impulse acts: only then does it
    /// exert no moment.
    normal: DVec3,
    answer: DVec3,
    /// Along a contact's normal.
    stiffness: f64,
    /// What a contact's gap has to reach, m.
    target: f64,
}

impl Row {
    fn tie(
        cast: &Cast<'_>,
        tie: &Tie,
        response: impl Fn(&Cast<'_>, &Support, &Support) -> DMat3,
    ) -> Self {
        let (a, b) = (cast.support(&tie.a), cast.support(&tie.b));
        let response = response(cast, &a, &b);
        let inverse = match tie.kind {
            TieKind::Point => inverted(response),
            TieKind::Distance(_) => DMat3::ZERO,
        };
        // Two anchors on one point have no direction; any one leaves it.
        let normal = (cast.position(&b) - cast.position(&a)).normalize_or(DVec3::X);
        Self {
            a,
            b,
            inverse,
            normal,
            answer: response * normal,
            stiffness: 0.0,
            target: 0.0,
        }
    }
}

/// Memory for a solve.
#[derive(Debug, Default)]
pub struct Workspace {
    ties: Vec<Row>,
    contacts: Vec<Row>,
}

/// Finds the impulses that put all tied anchors together, and all touching points on their hulls,
/// at the end of a substep of `h` seconds. All matter must have been planned with the same `h`.
pub fn aim(
    cast: &mut Cast<'_>,
    ties: &mut [Tie],
    contacts: &mut [Contact],
    h: f64,
    budget: &Budget,
    workspace: &mut Workspace,
) -> Outcome {
    workspace.ties.clear();
    for tie in ties.iter_mut() {
        let row = Row::tie(cast, tie, |cast, a, b| cast.response(a, b, h));
        if let TieKind::Distance(_) = tie.kind {
            tie.impulse = row.normal * tie.impulse.dot(row.normal);
        }
        cast.push(&row.a, &row.b, tie.impulse, h);
        workspace.ties.push(row);
    }
    workspace.contacts.clear();
    for contact in contacts.iter() {
        let (a, b) = (cast.support(&contact.a), cast.support(&contact.b));
        let n = contact.normal;
        let compliance = n.dot(cast.response(&a, &b, h) * n);
        let gap = n.dot(cast.position(&b) - cast.position(&a)) - contact.distance;
        workspace.contacts.push(Row {
            a,
            b,
            inverse: DMat3::ZERO,
            normal: n,
            answer: DVec3::ZERO,
            // What can't be moved is not pushed.
            stiffness: if compliance > 0.0 {
                1.0 / compliance
            } else {
                0.0
            },
            target: (gap + budget.recovery * h).min(0.0),
        });
        cast.push(&a, &b, n * contact.impulse, h);
    }

    let mut outcome = Outcome::default();
    loop {
        let mut right = true;
        outcome.error = 0.0;
        for (tie, row) in ties.iter_mut().zip(&workspace.ties) {
            let apart = cast.preview(&row.b, h) - cast.preview(&row.a, h);
            let (error, impulse) = match tie.kind {
                TieKind::Point => (apart.length(), -(row.inverse * apart)),
                TieKind::Distance(length) => {
                    let excess = apart.length() - length;
                    let slope = apart.normalize_or(row.normal).dot(row.answer);
                    // Where the impulse does not change the distance, none is given.
                    let size = if slope > 0.0 { -excess / slope } else { 0.0 };
                    (excess.abs(), row.normal * size)
                }
            };
            outcome.error = outcome.error.max(error);
            if error > budget.position {
                right = false;
                tie.impulse += impulse;
                cast.push(&row.a, &row.b, impulse, h);
            }
        }
        for (contact, row) in contacts.iter_mut().zip(&workspace.contacts) {
            let apart = cast.preview(&row.b, h) - cast.preview(&row.a, h);
            let lack = row.target - (contact.normal.dot(apart) - contact.distance);
            let wanted = (contact.impulse + lack * row.stiffness).max(0.0);
            let change = wanted - contact.impulse;
            let error = if row.stiffness > 0.0 {
                (change / row.stiffness).abs()
            } else {
                0.0
            };
            outcome.error = outcome.error.max(error);
            if error > budget.depth {
                right = false;
                contact.impulse = wanted;
                cast.push(&row.a, &row.b, contact.normal * change, h);
            }
        }
        if right || outcome.iterations >= budget.iterations {
            outcome.converged = right;
            return outcome;
        }
        outcome.iterations += 1;
    }
}

/// Takes the relative velocity out of every tie after the substep (B27).
pub fn correct(
    cast: &mut Cast<'_>,
    ties: &[Tie],
    budget: &Budget,
    workspace: &mut Workspace,
) -> Outcome {
    workspace.ties.clear();
    for tie in ties {
        let row = Row::tie(cast, tie, |cast, a, b| cast.mobility(a, b));
        workspace.ties.push(row);
    }
    let mut outcome = Outcome::default();
    loop {
        let mut right = true;
        outcome.error = 0.0;
        for (tie, row) in ties.iter().zip(&workspace.ties) {
            let relative = cast.velocity(&row.b) - cast.velocity(&row.a);
            let (error, impulse) = match tie.kind {
                TieKind::Point => (relative.length(), -(row.inverse * relative)),
                TieKind::Distance(_) => {
                    let speed = row.normal.dot(relative);
                    let slope = row.normal.dot(row.answer);
                    let size = if slope > 0.0 { -speed / slope } else { 0.0 };
                    (speed.abs(), row.normal * size)
                }
            };
            outcome.error = outcome.error.max(error);
            if error > budget.velocity {
                right = false;
                cast.push(&row.a, &row.b, impulse, 0.0);
            }
        }
        if right || outcome.iterations >= budget.iterations {
            outcome.converged = right;
            return outcome;
        }
        outcome.iterations += 1;
    }
}

/// The inverse of a response, restricted to the directions that can move: between a fixed point and
/// a node locked along an axis the response is singular, and no impulse must appear there.
fn inverted(response: DMat3) -> DMat3 {
    let scale = response
        .to_cols_array()
        .iter()
        .fold(0.0_f64, |s, x| s.max(x.abs()));
    if scale == 0.0 {
        return DMat3::ZERO;
    }
    let inverse = (response * (1.0 / scale)).inverse() * (1.0 / scale);
    let determinant = (response * (1.0 / scale)).determinant();
    if determinant.abs() > 1e-9 && inverse.is_finite() {
        return inverse;
    }
    // Damped normal equations: exact to 1e-12 in the directions that move, zero in the others.
    let unit = response * (1.0 / scale);
    let normal = unit.transpose() * unit + DMat3::from_diagonal(DVec3::splat(1e-12));
    normal.inverse() * unit.transpose() * (1.0 / scale)
}
