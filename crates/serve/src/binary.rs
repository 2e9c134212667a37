//! Numbers in the binary messages: little endian, every field a multiple of four bytes.

use glam::{DQuat, DVec3};
use thiserror::Error;

/// Appends numbers to a message.
pub struct Writer<'a> {
    out: &'a mut Vec<u8>,
}

impl<'a> Writer<'a> {
    /// Begins a message in `out`, whose memory is reused.
    pub fn new(out: &'a mut Vec<u8>, magic: u32) -> Self {
        out.clear();
        let mut writer = Self { out };
        writer.u32(magic);
        writer
    }

    pub fn u32(&mut self, x: u32) {
        self.out.extend_from_slice(&x.to_le_bytes());
    }

    pub fn count(&mut self, n: usize) {
        self.u32(n as u32);
    }

    pub fn f64(&mut self, x: f64) {
        self.out.extend_from_slice(&x.to_le_bytes());
    }

    /// What a message holds is finite, whatever was measured: a reader may rely on it.
    pub fn f32(&mut self, x: f64) {
        let x = if x.is_nan() { 0.0 } else { x };
        let x = x.clamp(f64::from(f32::MIN), f64::from(f32::MAX)) as f32;
        self.out.extend_from_slice(&x.to_le_bytes());
    }

    pub fn floats(&mut self, xs: &[f64]) {
        xs.iter().for_each(|x| self.f32(*x));
    }

    pub fn vector(&mut self, v: DVec3) {
        self.floats(&v.to_array());
    }

    /// Two vectors for each, and how many there are.
    pub fn pairs(&mut self, pairs: &[(DVec3, DVec3)]) {
        self.count(pairs.len());
        for (a, b) in pairs {
            self.vector(*a);
            self.vector(*b);
        }
    }

    pub fn pose(&mut self, position: DVec3, rotation: DQuat) {
        self.vector(position);
        self.floats(&rotation.to_array());
    }
}

/// What is wrong with a binary message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum BinaryError {
    /// It does not begin as it should.
    #[error("this is another kind of message: it begins with {0:#x}")]
    Foreign(u32),
    /// It ends too early.
    #[error("the message is cut short at byte {0}")]
    Short(usize),
    /// It goes on after its end.
    #[error("the message has {0} bytes too many")]
    Long(usize),
    /// A number in it is not finite.
    #[error("the message has a number that is not finite before byte {0}")]
    NotFinite(usize),
}

/// Takes numbers off a message, checking every length and that every number is finite.
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8], magic: u32) -> Result<Self, BinaryError> {
        let mut reader = Self { bytes, at: 0 };
        match reader.u32()? {
            found if found == magic => Ok(reader),
            found => Err(BinaryError::Foreign(found)),
        }
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], BinaryError> {
        let taken = self.bytes[self.at..]
            .first_chunk()
            .ok_or(BinaryError::Short(self.bytes.len()))?;
        self.at += N;
        Ok(*taken)
    }

    pub fn u32(&mut self) -> Result<u32, BinaryError> {
        self.take().map(u32::from_le_bytes)
    }

    pub fn f64(&mut self) -> Result<f64, BinaryError> {
        let x = f64::from_le_bytes(self.take()?);
        self.check(x)?;
        Ok(x)
    }

    /// A number of things of at least `size` bytes: never more than the rest can hold, so that no message makes
    /// us reserve more memory than it has bytes.
    pub fn count(&mut self, size: usize) -> Result<usize, BinaryError> {
        let count = self.u32()? as usize;
        if count > (self.bytes.len() - self.at) / size {
            return Err(BinaryError::Short(self.bytes.len()));
        }
        Ok(count)
    }

    pub fn floats<const N: usize>(&mut self) -> Result<[f32; N], BinaryError> {
        let mut floats = [0.0; N];
        for x in &mut floats {
            *x = f32::from_le_bytes(self.take()?);
            self.check((*x).into())?;
        }
        Ok(floats)
    }

    /// As many rows of `N` numbers as the message says.
    pub fn rows<const N: usize>(&mut self) -> Result<Vec<[f32; N]>, BinaryError> {
        let count = self.count(4 * N)?;
        (0..count).map(|_| self.floats()).collect()
    }

    /// There must be nothing left.
    pub fn end(self) -> Result<(), BinaryError> {
        match self.bytes.len() - self.at {
            0 => Ok(()),
            left => Err(BinaryError::Long(left)),
        }
    }

    fn check(&self, x: f64) -> Result<(), BinaryError> {
        if x.is_finite() {
            Ok(())
        } else {
            Err(BinaryError::NotFinite(self.at))
        }
    }
}
