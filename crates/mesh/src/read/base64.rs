//! Base64, as XML VTK uses it for binary numbers (RFC 4648, with padding).

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Bytes as text.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let bits = chunk
            .iter()
            .fold(0_u32, |bits, &b| bits << 8 | u32::from(b))
            << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let digit = ALPHABET[(bits >> (18 - 6 * place)) as usize & 63];
            text.push(if place > chunk.len() {
                '='
            } else {
                digit as char
            });
        }
    }
    text
}

/// Text as bytes; white space is passed over. Several padded pieces may follow one another, as VTK writes a header and
/// its data. Nothing if it is no base64.
pub(super) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let mut group = [0_u8; 4];
    let mut filled = 0;
    for &letter in text.iter().filter(|b| !b.is_ascii_whitespace()) {
        group[filled] = letter;
        filled += 1;
        if filled == 4 {
            let padding = group.iter().rev().take_while(|&&b| b == b'=').count();
            let mut bits = 0_u32;
            for &letter in &group[..4 - padding] {
                bits = bits << 6 | digit(letter)?;
            }
            bits <<= 6 * padding;
            let size = 3_usize.checked_sub(padding).filter(|&size| size > 0)?;
            bytes.extend_from_slice(&bits.to_be_bytes()[1..1 + size]);
            filled = 0;
        }
    }
    (filled == 0).then_some(bytes)
}

fn digit(letter: u8) -> Option<u32> {
    Some(match letter {
        b'A'..=b'Z' => u32::from(letter - b'A'),
        b'a'..=b'z' => u32::from(letter - b'a') + 26,
        b'0'..=b'9' => u32::from(letter - b'0') + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_standard() {
        for (plain, coded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(encode(plain.as_bytes()), coded);
            assert_eq!(decode(coded.as_bytes()).unwrap(), plain.as_bytes());
        }
        assert_eq!(decode(b"Zg==\n Zm8=").unwrap(), b"ffo");
        for wrong in ["Zg=", "Z===", "====", "Z=g=", "Zg!="] {
            assert_eq!(decode(wrong.as_bytes()), None, "{wrong}");
        }
    }

    proptest::proptest! {
        #[test]
        fn all_bytes_come_back(bytes: Vec<u8>) {
            proptest::prop_assert_eq!(decode(encode(&bytes).as_bytes()), Some(bytes));
        }
    }
}
