//! All ties of a group at once: Newton's method on one dense system (B58).
//!
//! Sweeps settle ties that hardly touch each other in one or two rounds, but a chain of bodies, or a light one that
//! bears a heavy one, takes them thousands. This takes a few factorisations. The matrix is not quite symmetric: an
//! impulse acts where a point is, and is judged by where it will be.

use super::Row;
use crate::TieKind;
use glam::{DMat3, DVec3};

/// More unknowns than this are left to the sweeps: a dense factorisation would cost tens of milliseconds.
const MOST: usize = 600;

/// A pivot this small against the largest entry is a tie that others already determine; it gets no impulse of its own.
const REDUNDANT: f64 = 1e-11;

/// What is wrong with a tie: along each of its unknowns a direction, and by how much.
#[derive(Clone, Copy, Debug)]
pub struct Wrong {
    /// The vector between the points of a point tie; the direction in which a distance grows.
    pub vector: DVec3,
    /// By how much a distance is too long.
    pub excess: f64,
}

/// A system over the unknown impulses: three for a point, one for a distance.
#[derive(Debug, Default)]
pub struct Direct {
    matrix: Vec<f64>,
    /// Along what each equation measures, and along what each unknown acts.
    measures: Vec<DVec3>,
    acts: Vec<DVec3>,
    /// First unknown of each tie, and one behind the last.
    first: Vec<usize>,
    unknowns: Vec<f64>,
    /// Impulse given to each tie in the last round.
    given: Vec<DVec3>,
    /// True if that takes back what an earlier one gave.
    taken_back: bool,
}

impl Direct {
    /// True if so many ties are few enough.
    pub fn fits(rows: &[Row]) -> bool {
        let unknowns = |row: &Row| if row.kind == TieKind::Point { 3 } else { 1 };
        rows.iter().map(unknowns).sum::<usize>() <= MOST
    }

    /// One round: gives every tie the impulse that, in the linear model, undoes what is wrong with it.
    /// `response(i, j)` is how the points of tie `i` come apart when tie `j` is given a unit impulse.
    pub fn round(&mut self, rows: &[Row], wrong: &[Wrong], response: impl Fn(&Row, &Row) -> DMat3) {
        self.measures.clear();
        self.acts.clear();
        self.first.clear();
        self.unknowns.clear();
        for (row, wrong) in rows.iter().zip(wrong) {
            self.first.push(self.acts.len());
            match row.kind {
                TieKind::Point => {
                    self.measures.extend(DVec3::AXES);
                    self.acts.extend(DVec3::AXES);
                    self.unknowns.extend((-wrong.vector).to_array());
                }
                TieKind::Distance(_) => {
                    self.measures.push(wrong.vector);
                    self.acts.push(row.normal);
                    self.unknowns.push(-wrong.excess);
                }
            }
        }
        let n = self.acts.len();
        self.first.push(n);
        self.matrix.clear();
        self.matrix.resize(n * n, 0.0);
        for (i, a) in rows.iter().enumerate() {
            for (j, b) in rows.iter().enumerate() {
                let block = response(a, b);
                for p in self.first[i]..self.first[i + 1] {
                    for q in self.first[j]..self.first[j + 1] {
                        self.matrix[p * n + q] = self.measures[p].dot(block * self.acts[q]);
                    }
                }
            }
        }
        eliminate(&mut self.matrix, &mut self.unknowns);
        self.given.clear();
        self.taken_back = false;
        for i in 0..rows.len() {
            let range = self.first[i]..self.first[i + 1];
            let impulse = range.map(|p| self.acts[p] * self.unknowns[p]).sum();
            self.given.push(impulse);
        }
    }

    /// What each tie is to be given.
    pub fn given(&self) -> &[DVec3] {
        &self.given
    }

    /// Takes back half of what the last round gave: the step was too long for the linear model.
    pub fn halve(&mut self) {
        let share = if self.taken_back { 0.5 } else { -0.5 };
        self.taken_back = true;
        self.given.iter_mut().for_each(|given| *given *= share);
    }
}

impl Wrong {
    /// By how much the tie is wrong, m or m/s.
    pub fn size(&self, kind: TieKind) -> f64 {
        match kind {
            TieKind::Point => self.vector.length(),
            TieKind::Distance(_) => self.excess.abs(),
        }
    }
}

/// Solves A x = b by elimination with row pivoting; `b` becomes x. Unknowns that others determine are zero.
fn eliminate(a: &mut [f64], b: &mut [f64]) {
    let n = b.len();
    let largest = a.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    for k in 0..n {
        let pivot = (k..n)
            .max_by(|i, j| a[i * n + k].abs().total_cmp(&a[j * n + k].abs()))
            .unwrap_or(k);
        if a[pivot * n + k].abs() <= REDUNDANT * largest {
            // Its column says nothing new: take the unknown out.
            for i in 0..n {
                a[i * n + k] = 0.0;
            }
            continue;
        }
        if pivot != k {
            for j in k..n {
                a.swap(k * n + j, pivot * n + j);
            }
            b.swap(k, pivot);
        }
        let inverse = 1.0 / a[k * n + k];
        for i in k + 1..n {
            let factor = a[i * n + k] * inverse;
            if factor != 0.0 {
                let (above, below) = a.split_at_mut(i * n);
                let row = &above[k * n + k..k * n + n];
                for (x, y) in below[k..n].iter_mut().zip(row) {
                    *x -= factor * y;
                }
                b[i] -= factor * b[k];
            }
        }
    }
    for k in (0..n).rev() {
        let diagonal = a[k * n + k];
        if diagonal == 0.0 {
            b[k] = 0.0;
            continue;
        }
        let sum: f64 = (k + 1..n).map(|j| a[k * n + j] * b[j]).sum();
        b[k] = (b[k] - sum) / diagonal;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Anchor, MatterId, anchor::Support};

    /// A point tie, known by `answer.x`.
    fn row(i: usize) -> Row {
        let anchor = Support::of(&Anchor::node(MatterId(0), 0));
        Row {
            a: anchor,
            b: anchor,
            kind: TieKind::Point,
            inverse: DMat3::ZERO,
            normal: DVec3::X,
            answer: DVec3::X * i as f64,
        }
    }

    /// A chain of equal masses: 2 on the diagonal, −1 beside it.
    fn chain(i: usize, j: usize) -> f64 {
        match i.abs_diff(j) {
            0 => 2.0,
            1 => -1.0,
            _ => 0.0,
        }
    }

    fn wrong(vector: DVec3) -> Wrong {
        Wrong {
            vector,
            excess: 0.0,
        }
    }

    #[test]
    fn a_chain_is_solved_in_one_round() {
        let n = 40;
        let rows: Vec<Row> = (0..n).map(row).collect();
        let index = |r: &Row| r.answer.x as usize;
        let apart: Vec<Wrong> = (0..n)
            .map(|i| wrong(DVec3::new(i as f64, 1.0, -1.0)))
            .collect();
        let mut direct = Direct::default();
        direct.round(&rows, &apart, |i, j| {
            DMat3::IDENTITY * chain(index(i), index(j))
        });
        let impulses = direct.given();
        for (i, apart) in apart.iter().enumerate() {
            let sum: DVec3 = (0..n).map(|j| impulses[j] * chain(i, j)).sum();
            assert!((sum + apart.vector).length() < 1e-10);
        }
    }

    #[test]
    fn a_tie_said_twice_is_given_once() {
        let said = [wrong(DVec3::ONE); 2];
        let mut direct = Direct::default();
        direct.round(&[row(0), row(1)], &said, |_, _| DMat3::IDENTITY);
        let sum: DVec3 = direct.given().iter().sum();
        assert!((sum + DVec3::ONE).length() < 1e-12);
    }

    #[test]
    fn too_large_a_system_is_left_to_the_sweeps() {
        let rows: Vec<Row> = (0..MOST).map(row).collect();
        assert!(!Direct::fits(&rows) && Direct::fits(&rows[..MOST / 3]));
    }
}
