//! Octets, and numbers that may be undefined, in serialised inputs and effects.

/// The octets that these digits, two for each, stand for.
pub fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |c: u8| (c as char).to_digit(16).map(|d| d as u8);
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|p| if let [a, b] = p { Some(digit(*a)? << 4 | digit(*b)?) } else { None }).collect()
}

/// Writes octets as hexadecimal digits.
pub(crate) fn hexadecimal<S: serde::Serializer>(data: &[u8], s: S) -> Result<S::Ok, S::Error> {
    s.serialize_str(&crate::hex(data))
}

/// Whether an octet is left out because it is zero.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes the field by reference")]
pub(crate) const fn is_zero(octet: &u8) -> bool {
    *octet == 0
}

/// An owned string of octets.
pub(crate) mod owned {
    use serde::{Deserialize as _, Deserializer, de::Error as _};

    pub(crate) use super::hexadecimal as serialize;

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(d)?;
        super::from_hex(&text).ok_or_else(|| D::Error::custom("not hexadecimal bytes"))
    }
}

/// A borrowed or owned string of octets.
pub(crate) mod cow {
    use std::borrow::Cow;

    use serde::Deserializer;

    pub(crate) use super::hexadecimal as serialize;

    pub(crate) fn deserialize<'de, 'a, D: Deserializer<'de>>(d: D) -> Result<Cow<'a, [u8]>, D::Error> {
        super::owned::deserialize(d).map(Cow::Owned)
    }
}

/// A number whose NaN is null.
pub(crate) mod maybe_nan {
    use serde::{Deserialize as _, Deserializer, Serializer};

    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes the field by reference")]
    pub(crate) fn serialize<S: Serializer>(v: &f32, s: S) -> Result<S::Ok, S::Error> {
        if v.is_nan() { s.serialize_none() } else { s.serialize_f32(*v) }
    }
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<f32, D::Error> {
        Ok(Option::<f32>::deserialize(d)?.unwrap_or(f32::NAN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_digits_come_back_as_the_octets_they_were() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(from_hex(&crate::hex(&all)), Some(all));
        assert_eq!(crate::hex(&[0x0a, 0xf0]), "0af0");
        assert_eq!((from_hex("0"), from_hex("zz")), (None, None));
    }
}
