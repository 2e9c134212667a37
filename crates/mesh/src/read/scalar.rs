//! The number types that binary formats are made of.

use super::error::ParseError;
use super::scan::Scan;

/// A number type in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scalar {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

/// How numbers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Ascii,
    Little,
    Big,
}

impl Scalar {
    /// Bytes it takes.
    pub fn size(self) -> usize {
        match self {
            Scalar::I8 | Scalar::U8 => 1,
            Scalar::I16 | Scalar::U16 => 2,
            Scalar::I32 | Scalar::U32 | Scalar::F32 => 4,
            Scalar::I64 | Scalar::U64 | Scalar::F64 => 8,
        }
    }

    /// Whether it holds whole numbers.
    pub fn is_whole(self) -> bool {
        !matches!(self, Scalar::F32 | Scalar::F64)
    }

    /// Decodes one number from its bytes, as many as [`Scalar::size`] says.
    pub fn decode(self, bytes: &[u8], big: bool) -> Number {
        // Collected into the low end of eight bytes, most significant first.
        let bits = |bytes: &mut dyn Iterator<Item = &u8>| {
            bytes.fold(0_u64, |bits, &b| bits << 8 | u64::from(b))
        };
        let bits = if big {
            bits(&mut bytes.iter())
        } else {
            bits(&mut bytes.iter().rev())
        };
        match self {
            Scalar::F32 => Number::Real(f64::from(f32::from_bits(bits as u32))),
            Scalar::F64 => Number::Real(f64::from_bits(bits)),
            Scalar::I8 => Number::Whole(i64::from(bits as i8)),
            Scalar::I16 => Number::Whole(i64::from(bits as i16)),
            Scalar::I32 => Number::Whole(i64::from(bits as i32)),
            // What does not fit is no index anyway: negative, and refused as such.
            Scalar::I64 | Scalar::U64 => Number::Whole(bits as i64),
            Scalar::U8 | Scalar::U16 | Scalar::U32 => Number::Whole(bits as i64),
        }
    }
}

/// A number from a file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Number {
    Whole(i64),
    Real(f64),
}

impl Number {
    pub fn real(self) -> f64 {
        match self {
            Number::Whole(n) => n as f64,
            Number::Real(x) => x,
        }
    }

    /// As an index; what is not whole is −1, which no check lets pass.
    pub fn whole(self) -> i64 {
        match self {
            Number::Whole(n) => n,
            Number::Real(_) => -1,
        }
    }
}

impl Scan<'_> {
    /// One number.
    pub fn scalar(
        &mut self,
        scalar: Scalar,
        encoding: Encoding,
        what: &str,
    ) -> Result<Number, ParseError> {
        match encoding {
            Encoding::Ascii if scalar.is_whole() => self.number(what).map(Number::Whole),
            Encoding::Ascii => self.number(what).map(Number::Real),
            Encoding::Little | Encoding::Big => {
                Ok(scalar.decode(self.take(scalar.size(), what)?, encoding == Encoding::Big))
            }
        }
    }

    /// `count` numbers. Refused before anything is allocated if the file cannot hold them.
    pub fn scalars(
        &mut self,
        count: usize,
        scalar: Scalar,
        encoding: Encoding,
        what: &str,
    ) -> Result<Vec<Number>, ParseError> {
        // In text, a number takes a digit and a separator.
        self.fits(
            count,
            if encoding == Encoding::Ascii {
                2
            } else {
                scalar.size()
            },
            what,
        )?;
        (0..count)
            .map(|_| self.scalar(scalar, encoding, what))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_both_ways_round() {
        assert_eq!(
            Scalar::I16.decode(&(-2_i16).to_be_bytes(), true),
            Number::Whole(-2)
        );
        assert_eq!(
            Scalar::I16.decode(&(-2_i16).to_le_bytes(), false),
            Number::Whole(-2)
        );
        assert_eq!(
            Scalar::U32.decode(&u32::MAX.to_le_bytes(), false),
            Number::Whole(4_294_967_295)
        );
        assert_eq!(
            Scalar::U64.decode(&u64::MAX.to_le_bytes(), false).whole(),
            -1
        );
        assert_eq!(
            Scalar::F32.decode(&1.5_f32.to_be_bytes(), true),
            Number::Real(1.5)
        );
        assert_eq!(
            Scalar::F64.decode(&(-0.1_f64).to_le_bytes(), false),
            Number::Real(-0.1)
        );
    }
}
