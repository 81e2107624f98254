//! What packets and ports of a library or a module must be.

/// Longest packet, bytes: IP's total length has 16 bits.
pub(crate) const LONGEST: usize = 65_535;

/// Checks that octets are one IP packet of the length that its header says. The error describes them.
#[inline]
pub(crate) fn is_packet(octets: &[u8]) -> Result<(), String> {
    let word = |at: usize| Some(usize::from(u16::from_be_bytes([*octets.get(at)?, *octets.get(at + 1)?])));
    let (header, total) = match octets.first().map(|o| o >> 4) {
        Some(4) => (usize::from(octets[0] & 0xf) * 4, word(2)),
        Some(6) => (40, word(4).map(|payload| payload + 40)),
        Some(version) => {
            return Err(format!("{} bytes that are no IP packet (version {version})", octets.len()));
        }
        None => return Err("an empty packet".to_owned()),
    };
    if header < 20 || octets.len() < header.max(20) || total != Some(octets.len()) {
        let total = total.map_or_else(|| "nothing".to_owned(), |t| t.to_string());
        return Err(format!(
            "{} bytes as an IP packet whose header says {total} bytes (header of {header})",
            octets.len()
        ));
    }
    Ok(())
}

/// Checks that a number is a port that a socket can have.
pub(crate) fn port(number: u16) -> Result<u16, String> {
    if number == 0 { Err("used port 0; give 1 to 65535".to_owned()) } else { Ok(number) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ipv4(length: usize, total: u16) -> Vec<u8> {
        let mut p = vec![0; length];
        p[0] = 0x45;
        p[2..4].copy_from_slice(&total.to_be_bytes());
        p
    }

    #[test]
    fn lengths_must_agree() {
        assert_eq!(is_packet(&ipv4(30, 30)), Ok(()));
        assert!(is_packet(&ipv4(30, 31)).unwrap_err().contains("header says 31 bytes"));
        assert!(is_packet(&ipv4(12, 12)).is_err());
        assert!(is_packet(&[]).is_err() && is_packet(&[0x45]).is_err() && is_packet(&[0x10; 40]).is_err());
        let mut v6 = vec![0; 44];
        (v6[0], v6[5]) = (0x60, 4);
        assert_eq!(is_packet(&v6), Ok(()));
        v6[5] = 5;
        assert!(is_packet(&v6).is_err());
    }
}
