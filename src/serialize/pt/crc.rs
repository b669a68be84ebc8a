//! CRC-32, the checksum that a zip archive keeps of each entry.
//!
//! It is the remainder of the bytes, read as one polynomial over two elements, divided by a fixed
//! one (ISO 3309). Eight tables let eight bytes be divided at a time: 1 GB a second and more.

/// The divisor, its lowest power in the highest bit.
const DIVISOR: u32 = 0xedb8_8320;

/// `TABLES[k][byte]` is the remainder of `byte` with `k` zero bytes behind it.
static TABLES: [[u32; 256]; 8] = tables();

const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut remainder = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            let carry = remainder & 1;
            remainder = (remainder >> 1) ^ (carry * DIVISOR);
            bit += 1;
        }
        tables[0][byte] = remainder;
        byte += 1;
    }
    let mut at = 256;
    while at < 8 * 256 {
        let before = tables[at / 256 - 1][at % 256];
        tables[at / 256][at % 256] = (before >> 8) ^ tables[0][(before & 0xff) as usize];
        at += 1;
    }
    tables
}

/// The checksum of some bytes.
pub(super) fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = !0;
    let (eights, rest) = bytes.as_chunks::<8>();
    for eight in eights {
        let word = u64::from_le_bytes(*eight) ^ u64::from(crc);
        let each = word.to_le_bytes().into_iter().zip(TABLES.iter().rev());
        crc = each.fold(0, |crc, (byte, table)| crc ^ table[usize::from(byte)]);
    }
    for byte in rest {
        crc = (crc >> 8) ^ TABLES[0][usize::from(crc as u8 ^ byte)];
    }
    !crc
}
