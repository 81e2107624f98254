//! Checks of blocks (RFC 9171, section 4.2.1).

use crate::bundle::Crc;

const X25: crc::Crc<u16> = crc::Crc::<u16>::new(&crc::CRC_16_IBM_SDLC);
const CASTAGNOLI: crc::Crc<u32> = crc::Crc::<u32>::new(&crc::CRC_32_ISCSI);

impl Crc {
    /// Its number in a block.
    pub(crate) const fn code(self) -> u64 {
        self as u64
    }
    /// The check with this number.
    pub(crate) fn from_code(code: u64) -> Option<Self> {
        [Self::None, Self::Crc16, Self::Crc32c].into_iter().find(|crc| crc.code() == code)
    }
    /// Its length in octets.
    pub(crate) const fn octets(self) -> usize {
        match self {
            Self::None => 0,
            Self::Crc16 => 2,
            Self::Crc32c => 4,
        }
    }
    /// The check of a block whose octets before the check's own are these; its own count as zero.
    pub(crate) fn over(self, block: &[u8]) -> Vec<u8> {
        match self {
            Self::None => Vec::new(),
            Self::Crc16 => {
                let mut digest = X25.digest();
                digest.update(block);
                digest.update(&[0; 2]);
                digest.finalize().to_be_bytes().to_vec()
            }
            Self::Crc32c => {
                let mut digest = CASTAGNOLI.digest();
                digest.update(block);
                digest.update(&[0; 4]);
                digest.finalize().to_be_bytes().to_vec()
            }
        }
    }
}
