//! Packing and unpacking of elements narrower than a byte.
//!
//! Element 0 is in the low bits of byte 0. Law: `unpack(bits, pack(bits, x), x.len(), sign)` is `x` for values that fit
//! `bits` bits. A packed array takes `⌈n · bits / 8⌉` bytes; XLA's run-time helper allocates `⌊n · bits / 8⌋`, one byte
//! short for odd counts. Source: XLA's `PackIntN`, `UnpackIntN`.

use tilewright_core::Error;

/// Packs elements of one byte each into `bits` bits per element. The low bits of each byte are taken; the bits after the
/// last element are 0. A negative number is its byte in two's complement.
///
/// # Errors
/// [unsupported](Error::is_unsupported) unless `bits` is 1, 2 or 4.
///
/// ```
/// use tilewright_xla::packing::pack;
/// assert_eq!(pack(4, &[1, 2, 3]).unwrap(), [0x21, 0x03]);
/// assert_eq!(pack(4, &[-1i8 as u8, 7, -8i8 as u8]).unwrap(), [0x7f, 0x08]);
/// assert!(pack(3, &[1]).unwrap_err().is_unsupported());
/// ```
#[doc(alias = "PackIntN")]
pub fn pack(bits: u32, elements: &[u8]) -> Result<Vec<u8>, Error> {
    check(bits)?;
    let mask = (1u8 << bits) - 1;
    let byte = |chunk: &[u8]| {
        chunk.iter().rev().fold(0, |byte: u8, element| byte.unbounded_shl(bits) | (element & mask))
    };
    Ok(elements.chunks((8 / bits) as usize).map(byte).collect())
}

/// Unpacks `count` elements of `bits` bits each into one byte per element. With `signed`, the top bit of an element
/// fills the bits above it.
///
/// # Errors
/// [unsupported](Error::is_unsupported) unless `bits` is 1, 2 or 4; [mismatch](Error::is_mismatch) unless `packed` has
/// exactly the bytes of `count` elements.
///
/// ```
/// use tilewright_xla::packing::unpack;
/// assert_eq!(unpack(4, &[0x7f, 0x08], 3, true).unwrap(), [-1i8 as u8, 7, -8i8 as u8]);
/// assert_eq!(unpack(2, &[0xe4, 0x01], 5, false).unwrap(), [0, 1, 2, 3, 1]);
/// let error = unpack(4, &[0x21], 3, false).unwrap_err();
/// assert!(error.is_mismatch() && error.to_string().contains("2 bytes"));
/// ```
#[doc(alias = "UnpackIntN")]
pub fn unpack(bits: u32, packed: &[u8], count: usize, signed: bool) -> Result<Vec<u8>, Error> {
    check(bits)?;
    let per_byte = (8 / bits) as usize;
    if packed.len() != count.div_ceil(per_byte) {
        return Err(Error::mismatch(
            "{} elements of {} bits take {} bytes, not {}",
            [count as i128, bits.into(), count.div_ceil(per_byte) as i128, packed.len() as i128],
            "give exactly the bytes that hold the elements",
        ));
    }
    let place = |at: usize| (at % per_byte) as u32 * bits;
    let elements = packed.iter().flat_map(|&byte| (0..per_byte).map(move |at| (byte, at)));
    Ok(elements.take(count).map(|(byte, at)| element(byte >> place(at), bits, signed)).collect())
}

/// Returns the low `bits` bits of a byte.
fn element(byte: u8, bits: u32, signed: bool) -> u8 {
    let above = 8 - bits;
    if signed { ((byte << above) as i8 >> above) as u8 } else { byte << above >> above }
}

fn check(bits: u32) -> Result<(), Error> {
    match bits {
        1 | 2 | 4 => Ok(()),
        _ => Err(Error::unsupported(
            "packed elements of {} bits",
            [bits.into()],
            "use 1, 2 or 4 bits",
        )),
    }
}
