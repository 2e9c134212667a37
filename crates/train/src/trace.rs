//! Signals over time, for the plots of a debrief.

use serde::{Deserialize, Serialize};

/// Samples a second. Hands move below 10 Hz; a picture has 60.
pub const RATE: f64 = 50.0;

/// Signals at 50 samples a second, a column each.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// Time from the start, s.
    pub time: Vec<f32>,
    /// The tip, m.
    pub x: Vec<f32>,
    /// The tip, m.
    pub y: Vec<f32>,
    /// The tip, m.
    pub z: Vec<f32>,
    /// Speed of the tip, m/s.
    pub speed: Vec<f32>,
    /// Force at the tip, N.
    pub force: Vec<f32>,
    /// Greatest stretch of the tissue: 0.2 is 20 % longer than at rest.
    pub stretch: Vec<f32>,
    /// 1 if the tip was seen.
    pub in_view: Vec<u8>,
    /// 1 if something was held.
    pub holding: Vec<u8>,
    /// Which goal was being worked on; as many as there are goals once all are reached.
    pub goal: Vec<u8>,
}

/// Version of the stored form, its first byte.
const FORM: u8 = 1;

impl Trace {
    /// Its stored form: a version, then the columns as postcard.
    pub fn to_bytes(&self) -> Vec<u8> {
        // Numbers and lists of them can always be written.
        let columns = postcard::to_stdvec(self).unwrap_or_default();
        [vec![FORM], columns].concat()
    }

    /// From its stored form; none if it is damaged or of a newer program.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (form, columns) = bytes.split_first()?;
        let trace: Self = postcard::from_bytes(columns).ok()?;
        let count = trace.time.len();
        let floats = [
            &trace.x,
            &trace.y,
            &trace.z,
            &trace.speed,
            &trace.force,
            &trace.stretch,
        ];
        let flags = [&trace.in_view, &trace.holding, &trace.goal];
        let whole =
            floats.iter().all(|c| c.len() == count) && flags.iter().all(|c| c.len() == count);
        (*form == FORM && whole).then_some(trace)
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        self.time.len()
    }

    /// True if there is no sample.
    pub fn is_empty(&self) -> bool {
        self.time.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_is_read_again_and_nothing_else() {
        let mut trace = Trace {
            time: vec![0.0, 0.02],
            x: vec![1.0, 2.0],
            y: vec![0.5; 2],
            z: vec![0.25; 2],
            speed: vec![0.0; 2],
            force: vec![1.5; 2],
            stretch: vec![0.1; 2],
            in_view: vec![1, 0],
            holding: vec![0, 1],
            goal: vec![0, 2],
        };
        let bytes = trace.to_bytes();
        assert_eq!(Trace::from_bytes(&bytes), Some(trace.clone()));
        assert_eq!(Trace::from_bytes(&bytes[..bytes.len() - 1]), None);
        assert_eq!(Trace::from_bytes(&[]), None);
        assert_eq!(Trace::from_bytes(&[&[2], &bytes[1..]].concat()), None);
        // Columns of different lengths would be read beyond their ends.
        trace.goal.pop();
        assert_eq!(Trace::from_bytes(&trace.to_bytes()), None);
    }
}
