//! Systems with random numbers, and their dense solution.

use proptest::prelude::TestCaseError;
use trocar_solve::{Factor, Pattern};

/// Numbers in -1..1, the same for the same seed.
pub fn random(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}

/// What came out.
pub struct Found {
    pub redundant: usize,
    /// Rows that a tolerance of 1e-5 would call redundant.
    pub doubtful: usize,
    /// In the order of nodes.
    pub solution: Vec<f64>,
    /// Largest error of an equation.
    pub residual: f64,
}

/// A matrix by nodes: bodies first, joints after.
pub struct System {
    sizes: Vec<u8>,
    edges: Vec<(u32, u32)>,
    after: Vec<bool>,
    /// The diagonal's sign: bodies and joints that give way have one.
    sign: Vec<f64>,
    /// Whose numbers a node takes.
    like: Vec<usize>,
    /// How large the blocks beside the diagonal are.
    coupling: f64,
}

impl System {
    pub fn of_bodies(sizes: &[u8]) -> Self {
        Self {
            sizes: sizes.to_vec(),
            edges: Vec::new(),
            after: vec![false; sizes.len()],
            sign: vec![1.0; sizes.len()],
            like: (0..sizes.len()).collect(),
            coupling: 1.0,
        }
    }

    pub fn quasi_definite(seed: u64, sizes: &[u8], edges: &[(u32, u32)]) -> Self {
        let mut system = Self::of_bodies(sizes);
        let mut next = random(!seed);
        for sign in &mut system.sign {
            *sign = if next() < 0.0 { -1.0 } else { 1.0 };
        }
        let count = sizes.len() as u32;
        let edges = edges.iter().map(|&(a, b)| (a % count, b % count));
        // Nodes of one sign must be definite together, so only nodes of different signs meet.
        let meet = |&(a, b): &(u32, u32)| system.sign[a as usize] != system.sign[b as usize];
        system.edges = edges.filter(meet).collect();
        system
    }

    pub fn definite(sizes: &[u8], edges: &[(u32, u32)]) -> Self {
        let mut system = Self::of_bodies(sizes);
        let count = sizes.len() as u32;
        let edges = edges.iter().map(|&(a, b)| (a % count, b % count));
        system.edges = edges.filter(|(a, b)| a != b).collect();
        system.coupling = 0.02;
        system
    }

    pub fn join(&mut self, rows: u8, bodies: &[u32]) {
        let joint = self.sizes.len();
        self.edges
            .extend(bodies.iter().map(|&body| (body, joint as u32)));
        self.sizes.push(rows);
        self.after.push(true);
        self.sign.push(0.0);
        self.like.push(joint);
    }

    /// A second joint with the same rows as the last.
    pub fn repeat_last_joint(&mut self) {
        let last = self.sizes.len() - 1;
        let bodies: Vec<u32> = self
            .edges
            .iter()
            .filter(|edge| edge.1 as usize == last)
            .map(|edge| edge.0)
            .collect();
        self.join(self.sizes[last], &bodies);
        self.like[last + 1] = last;
    }

    pub fn pattern(&self) -> Pattern {
        Pattern::new(&self.sizes, &self.edges, &self.after)
    }

    fn starts(&self) -> Vec<usize> {
        let mut sum = 0;
        let starts = self.sizes.iter().map(|&size| {
            sum += usize::from(size);
            sum - usize::from(size)
        });
        starts.collect()
    }

    /// The matrix and the right-hand side.
    fn numbers(&self, seed: u64) -> (Vec<Vec<f64>>, Vec<f64>) {
        let starts = self.starts();
        let rows = self.sizes.iter().map(|&size| usize::from(size)).sum();
        let mut matrix = vec![vec![0.0; rows]; rows];
        for (node, &size) in self.sizes.iter().enumerate() {
            let mut next = random(seed ^ (node as u64) << 32);
            let size = usize::from(size);
            for i in 0..size {
                for j in 0..i {
                    let value = self.sign[node] * 0.3 * next();
                    matrix[starts[node] + i][starts[node] + j] = value;
                    matrix[starts[node] + j][starts[node] + i] = value;
                }
                matrix[starts[node] + i][starts[node] + i] = self.sign[node] * (2.5 + next());
            }
        }
        for &(a, b) in &self.edges {
            let name = (self.like[a as usize] as u64) << 16 | self.like[b as usize] as u64;
            let mut next = random(seed.wrapping_add(name.wrapping_mul(0x1234_5678_9abc_def1)));
            for i in 0..usize::from(self.sizes[a as usize]) {
                for j in 0..usize::from(self.sizes[b as usize]) {
                    // A diagonal keeps long chains away from singular.
                    let value = self.coupling * (next() + if i == j { 2.0 } else { 0.0 });
                    matrix[starts[a as usize] + i][starts[b as usize] + j] = value;
                    matrix[starts[b as usize] + j][starts[a as usize] + i] = value;
                }
            }
        }
        let mut right = vec![0.0; rows];
        for (node, &size) in self.sizes.iter().enumerate() {
            let mut next = random(seed ^ 0xabcd ^ (self.like[node] as u64) << 24);
            for i in 0..usize::from(size) {
                right[starts[node] + i] = next();
            }
        }
        (matrix, right)
    }

    pub fn solve(&self, seed: u64) -> Found {
        let (matrix, right) = self.numbers(seed);
        let starts = self.starts();
        let pattern = self.pattern();
        let mut factor = Factor::default();
        factor.fit(&pattern);
        let block = |a: usize, b: usize| {
            let rows = starts[a]..starts[a] + usize::from(self.sizes[a]);
            let columns = starts[b]..starts[b] + usize::from(self.sizes[b]);
            let values: Vec<f64> = rows
                .flat_map(|row| matrix[row][columns.clone()].to_vec())
                .collect();
            values
        };
        let mut x = vec![0.0; pattern.rows()];
        for node in 0..self.sizes.len() {
            let size = usize::from(self.sizes[node]);
            let values = block(node, node);
            for (row, stored) in factor
                .diagonal_mut(&pattern, node)
                .chunks_exact_mut(size)
                .enumerate()
            {
                stored[..=row].copy_from_slice(&values[row * size..][..=row]);
            }
            x[pattern.range(node)].copy_from_slice(&right[starts[node]..][..size]);
        }
        for (at, &(a, b)) in self.edges.iter().enumerate() {
            let (a, b) = (a as usize, b as usize);
            let (a, b) = if at % 2 == 0 { (a, b) } else { (b, a) };
            let place = pattern.place(a, b).expect("an edge has a block");
            factor.set(place, &block(a, b));
        }
        let scale = vec![1.0; pattern.rows()];
        let doubtful = factor.clone().factor(&pattern, &scale, 1e-5);
        let redundant = factor.factor(&pattern, &scale, 1e-11);
        assert_eq!(redundant, factor.redundant().len());
        factor.solve(&pattern, &mut x);
        let mut solution = Vec::new();
        for node in 0..self.sizes.len() {
            solution.extend_from_slice(&x[pattern.range(node)]);
        }
        let error = |(row, wanted): (&Vec<f64>, &f64)| {
            let sum: f64 = row.iter().zip(&solution).map(|(a, b)| a * b).sum();
            (sum - wanted).abs()
        };
        let residual = matrix.iter().zip(&right).map(error).fold(0.0, f64::max);
        Found {
            redundant,
            doubtful,
            solution,
            residual,
        }
    }

    /// That nothing is redundant and that a dense solver agrees.
    pub fn check(&self, seed: u64, tolerance: f64) -> Result<(), TestCaseError> {
        let found = self.solve(seed);
        let (matrix, right) = self.numbers(seed);
        let Some(wanted) = dense_solve(matrix, right) else {
            return Err(TestCaseError::reject("singular"));
        };
        let largest = wanted.iter().fold(1.0_f64, |a, b| a.max(b.abs()));
        // What is nearly singular no method solves to many digits.
        if largest > 1e3 {
            return Err(TestCaseError::reject("nearly singular"));
        }
        if found.redundant != 0 {
            return Err(TestCaseError::fail(format!(
                "{} rows dropped",
                found.redundant
            )));
        }
        // Numbers drawn at random may make a joint's rows all but dependent on one body, where the order may not look for
        // another pivot; an unsound order gives pivots of 1e-15.
        if found.doubtful != 0 {
            return Err(TestCaseError::reject("nearly dependent on one body"));
        }
        for (a, b) in found.solution.iter().zip(&wanted) {
            if (a - b).abs() > tolerance * largest || a.is_nan() {
                return Err(TestCaseError::fail(format!("{a} is not {b}")));
            }
        }
        Ok(())
    }
}

/// Gauss with pivoting, `None` if singular.
fn dense_solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Option<Vec<f64>> {
    let count = right.len();
    for k in 0..count {
        let pivot =
            (k..count).max_by(|&a, &b| matrix[a][k].abs().total_cmp(&matrix[b][k].abs()))?;
        if matrix[pivot][k].abs() < 1e-9 {
            return None;
        }
        matrix.swap(k, pivot);
        right.swap(k, pivot);
        let above = matrix[k].clone();
        for i in k + 1..count {
            let ratio = matrix[i][k] / above[k];
            for (value, above) in matrix[i].iter_mut().zip(&above).skip(k) {
                *value -= ratio * above;
            }
            right[i] -= ratio * right[k];
        }
    }
    for k in (0..count).rev() {
        let sum: f64 = (k + 1..count).map(|j| matrix[k][j] * right[j]).sum();
        right[k] = (right[k] - sum) / matrix[k][k];
    }
    Some(right)
}
