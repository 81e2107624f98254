//! The bytes that flows send: each one follows from its position in the stream, so that nothing is
//! kept for retransmissions and every receiver can check its data.

/// Eight octets of the stream.
fn word(n: u64) -> [u8; 8] {
    (n.wrapping_add(1)).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes()
}

/// Writes the octets of the stream from `from` on.
pub fn fill(from: u64, out: &mut [u8]) {
    let lead = ((8 - from % 8) % 8).min(out.len() as u64) as usize;
    let (head, body) = out.split_at_mut(lead);
    for (i, octet) in head.iter_mut().enumerate() {
        *octet = octet_at(from + i as u64);
    }
    for (n, chunk) in ((from + lead as u64) / 8..).zip(body.chunks_mut(8)) {
        chunk.copy_from_slice(&word(n)[..chunk.len()]);
    }
}

/// Whether these are the octets of the stream from `from` on.
pub fn matches(from: u64, octets: &[u8]) -> bool {
    let mut own = [0; 256];
    octets.chunks(own.len()).zip((from..).step_by(own.len())).all(|(chunk, at)| {
        fill(at, &mut own[..chunk.len()]);
        *chunk == own[..chunk.len()]
    })
}

/// One octet of the stream.
fn octet_at(at: u64) -> u8 {
    word(at / 8)[(at % 8) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretch_is_the_same_from_wherever_it_is_written() {
        for from in 0..20 {
            for len in (0..40).chain([256, 257, 600]) {
                let mut out = vec![0; len];
                fill(from, &mut out);
                let single: Vec<u8> = (from..from + len as u64).map(octet_at).collect();
                assert_eq!(out, single);
                assert!(matches(from, &out));
                if let Some(last) = out.last_mut() {
                    *last ^= 1;
                    assert!(!matches(from, &out));
                }
            }
        }
    }
}
