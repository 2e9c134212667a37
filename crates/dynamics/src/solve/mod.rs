//! Impulses at the start of a substep that make its end right (B26, B27).

mod direct;
mod pull;

use crate::{Cast, Contact, Tie, TieKind, anchor::Support};
use direct::{Direct, Wrong};
use glam::{DMat3, DVec3};
use serde::{Deserialize, Serialize};

pub use pull::pull;

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

/// So many sweeps are tried before all ties are solved at once.
const SWEEPS: u32 = 3;

/// A round that made things worse is taken back by halves at most so often.
const HALVINGS: u32 = 6;

/// A distance whose tie has turned away from its impulse is answered as if it had kept this part of its slope:
/// otherwise the impulse would grow without bound as the two come to stand across each other.
const LEAST_SLOPE: f64 = 0.1;

/// A tie made ready. Kept in [`Workspace`] so that no solve allocates.
#[derive(Clone, Copy, Debug)]
struct Row {
    a: Support,
    b: Support,
    kind: TieKind,
    /// Inverse of the response at the start; near enough for the sweeps to converge.
    inverse: DMat3,
    /// Direction of the impulse of a distance, and how the points answer it. It is the direction at the *start* of
    /// the substep, where the impulse acts: only then does it exert no moment.
    normal: DVec3,
    answer: DVec3,
}

/// A contact made ready.
#[derive(Clone, Copy, Debug)]
struct Touching {
    a: Support,
    b: Support,
    /// Inverse of the response along the normal; 0 if nothing there can be moved.
    stiffness: f64,
    /// What the gap has to reach, m.
    target: f64,
}

/// Memory for a solve.
#[derive(Debug, Default)]
pub struct Workspace {
    ties: Vec<Row>,
    contacts: Vec<Touching>,
    direct: Direct,
    wrong: Vec<Wrong>,
}

/// What is made right: where the points of a tie will be after `h` seconds, or how fast they move apart.
#[derive(Clone, Copy)]
enum Level {
    Position(f64),
    Velocity,
}

impl Level {
    /// The substep that was planned; none when only velocities change.
    fn h(self) -> f64 {
        match self {
            Self::Position(h) => h,
            Self::Velocity => 0.0,
        }
    }

    fn response(self, cast: &Cast<'_>, i: (&Support, &Support), j: (&Support, &Support)) -> DMat3 {
        cast.pairs(i, j, |matter, nodes, p, q| match self {
            Self::Position(h) => matter.response(nodes, p, q, h),
            Self::Velocity => matter.mobility(nodes, p, q),
        })
    }

    fn wrong(self, cast: &Cast<'_>, row: &Row) -> Wrong {
        let apart = match self {
            Self::Position(h) => cast.preview(&row.b, h) - cast.preview(&row.a, h),
            Self::Velocity => cast.velocity(&row.b) - cast.velocity(&row.a),
        };
        match (row.kind, self) {
            (TieKind::Point, _) => Wrong {
                vector: apart,
                excess: 0.0,
            },
            (TieKind::Distance(length), Self::Position(_)) => Wrong {
                vector: apart.normalize_or(row.normal),
                excess: apart.length() - length,
            },
            (TieKind::Distance(_), Self::Velocity) => Wrong {
                vector: row.normal,
                excess: row.normal.dot(apart),
            },
        }
    }

    fn row(self, cast: &Cast<'_>, tie: &Tie) -> Row {
        let (a, b) = (cast.support(&tie.a), cast.support(&tie.b));
        let response = self.response(cast, (&a, &b), (&a, &b));
        // Two anchors on one point have no direction; any one leaves it.
        let normal = (cast.position(&b) - cast.position(&a)).normalize_or(DVec3::X);
        Row {
            a,
            b,
            kind: tie.kind,
            inverse: inverted(response),
            normal,
            answer: response * normal,
        }
    }
}

/// How far a solve has come.
struct Progress {
    level: Level,
    tolerance: f64,
    rounds: u32,
    /// True once all ties are solved at once.
    together: bool,
    error: f64,
    halvings: u32,
}

impl Progress {
    fn new(level: Level, tolerance: f64) -> Self {
        Self {
            level,
            tolerance,
            rounds: 0,
            together: false,
            error: f64::INFINITY,
            halvings: 0,
        }
    }

    /// One round over all ties; what they are given is also told to `give`. Returns the greatest error it found.
    fn round(
        &mut self,
        cast: &mut Cast<'_>,
        workspace: &mut Workspace,
        mut give: impl FnMut(usize, DVec3),
    ) -> f64 {
        let Workspace {
            ties: rows,
            direct,
            wrong,
            ..
        } = workspace;
        if self.rounds == SWEEPS {
            self.together = rows.len() > 1 && Direct::fits(rows);
        }
        self.rounds += 1;
        if self.together {
            self.solve(cast, rows, direct, wrong, &mut give)
        } else {
            self.sweep(cast, rows, &mut give)
        }
    }

    fn sweep(&self, cast: &mut Cast<'_>, rows: &[Row], give: &mut dyn FnMut(usize, DVec3)) -> f64 {
        let mut greatest = 0.0_f64;
        for (i, row) in rows.iter().enumerate() {
            let wrong = self.level.wrong(cast, row);
            let error = wrong.size(row.kind);
            greatest = greatest.max(error);
            if error > self.tolerance {
                let impulse = match row.kind {
                    TieKind::Point => -(row.inverse * wrong.vector),
                    TieKind::Distance(_) => {
                        let slope = wrong
                            .vector
                            .dot(row.answer)
                            .max(LEAST_SLOPE * row.normal.dot(row.answer));
                        // Where nothing can be moved, none is given.
                        if slope > 0.0 {
                            row.normal * (-wrong.excess / slope)
                        } else {
                            DVec3::ZERO
                        }
                    }
                };
                give(i, impulse);
                cast.push(&row.a, &row.b, impulse, self.level.h());
            }
        }
        greatest
    }

    fn solve(
        &mut self,
        cast: &mut Cast<'_>,
        rows: &[Row],
        direct: &mut Direct,
        wrong: &mut Vec<Wrong>,
        give: &mut dyn FnMut(usize, DVec3),
    ) -> f64 {
        wrong.clear();
        wrong.extend(rows.iter().map(|row| self.level.wrong(cast, row)));
        let error = rows
            .iter()
            .zip(&*wrong)
            .fold(0.0_f64, |e, (row, w)| e.max(w.size(row.kind)));
        if error <= self.tolerance {
            return error;
        }
        if error > self.error && self.halvings < HALVINGS {
            self.halvings += 1;
            direct.halve();
        } else {
            self.halvings = 0;
            self.error = error;
            let level = self.level;
            direct.round(rows, wrong, |i, j| {
                level.response(cast, (&i.a, &i.b), (&j.a, &j.b))
            });
        }
        for (i, (row, impulse)) in rows.iter().zip(direct.given()).enumerate() {
            give(i, *impulse);
            cast.push(&row.a, &row.b, *impulse, self.level.h());
        }
        error
    }
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
    let level = Level::Position(h);
    workspace.ties.clear();
    for tie in ties.iter_mut() {
        let row = level.row(cast, tie);
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
        workspace.contacts.push(Touching {
            a,
            b,
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

    let mut progress = Progress::new(level, budget.position);
    let mut outcome = Outcome::default();
    loop {
        let tied = progress.round(cast, workspace, |i, impulse| ties[i].impulse += impulse);
        let touched = sweep_contacts(cast, contacts, &workspace.contacts, h, budget);
        outcome.error = tied.max(touched);
        outcome.converged = tied <= budget.position && touched <= budget.depth;
        if outcome.converged || outcome.iterations >= budget.iterations {
            return outcome;
        }
        outcome.iterations += 1;
    }
}

/// One sweep over all contacts; returns by how much the worst of them was wrong, m.
fn sweep_contacts(
    cast: &mut Cast<'_>,
    contacts: &mut [Contact],
    rows: &[Touching],
    h: f64,
    budget: &Budget,
) -> f64 {
    let mut greatest = 0.0_f64;
    for (contact, row) in contacts
        .iter_mut()
        .zip(rows)
        .filter(|c| c.1.stiffness > 0.0)
    {
        let apart = cast.preview(&row.b, h) - cast.preview(&row.a, h);
        let lack = row.target - (contact.normal.dot(apart) - contact.distance);
        let wanted = (contact.impulse + lack * row.stiffness).max(0.0);
        let change = wanted - contact.impulse;
        let error = (change / row.stiffness).abs();
        greatest = greatest.max(error);
        if error > budget.depth {
            contact.impulse = wanted;
            cast.push(&row.a, &row.b, contact.normal * change, h);
        }
    }
    greatest
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
        workspace.ties.push(Level::Velocity.row(cast, tie));
    }
    let mut progress = Progress::new(Level::Velocity, budget.velocity);
    let mut outcome = Outcome::default();
    loop {
        outcome.error = progress.round(cast, workspace, |_, _| {});
        outcome.converged = outcome.error <= budget.velocity;
        if outcome.converged || outcome.iterations >= budget.iterations {
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
