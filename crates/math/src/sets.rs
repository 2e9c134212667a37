//! Sets of numbers that hang together.

/// The numbers below a count, in sets that are joined one by one. A set is known by its lowest member, so that it does not matter in which order
/// sets were joined.
#[derive(Clone, Debug, Default)]
pub struct Sets {
    /// Of each number one of its set that is no higher.
    lower: Vec<u32>,
}

impl Sets {
    /// Every number below `count` alone.
    pub fn of(count: usize) -> Self {
        let mut sets = Self::default();
        sets.part(count);
        sets
    }

    /// Makes every number below `count` a set of its own again; keeps its memory.
    pub fn part(&mut self, count: usize) {
        self.lower.clear();
        self.lower.extend(0..count as u32);
    }

    /// The lowest of the set that `member` is in.
    pub fn lowest(&mut self, mut member: u32) -> u32 {
        while self.lower[member as usize] != member {
            // The way is shorter for the next one.
            let lower = self.lower[self.lower[member as usize] as usize];
            self.lower[member as usize] = lower;
            member = lower;
        }
        member
    }

    /// Makes one set of those of `a` and `b`.
    pub fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.lowest(a), self.lowest(b));
        self.lower[a.max(b) as usize] = a.min(b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_joined_has_the_same_lowest_in_any_order() {
        let pairs = [(7, 3), (5, 6), (3, 5), (1, 9), (4, 4)];
        let lowest = |order: &[usize]| {
            let mut sets = Sets::of(10);
            order
                .iter()
                .for_each(|k| sets.join(pairs[*k].0, pairs[*k].1));
            (0..10).map(|i| sets.lowest(i)).collect::<Vec<_>>()
        };
        let wanted = [0, 1, 2, 3, 4, 3, 3, 3, 8, 1];
        assert_eq!(lowest(&[0, 1, 2, 3, 4]), wanted);
        assert_eq!(lowest(&[4, 3, 2, 1, 0]), wanted);
        let mut sets = Sets::of(2);
        sets.join(0, 1);
        sets.part(3);
        assert_eq!([0, 1, 2].map(|i| sets.lowest(i)), [0, 1, 2]);
    }
}
