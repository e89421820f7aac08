//! AES with two blocks in a register: AMD since Zen 3, Intel since Ice Lake.

use core::arch::x86_64::*;

use super::asked_once::AskedOnce;

cpufeatures::new!(one_block, "aes", "avx2");

/// The proof that the CPU has AVX2, and AES for one block and for two.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Vaes(());

/// How many blocks are encrypted at a time: in eight registers, so that none waits for another.
pub(crate) const BLOCKS: usize = 2 * REGISTERS;
const REGISTERS: usize = 8;

/// The words of a round key.
pub(crate) type RoundKey = [u32; 4];

impl Vaes {
    /// The token, if this machine and its operating system support the instructions.
    ///
    /// The feature of this name in `cpufeatures` can't be used: it also requires AVX-512's
    /// registers.
    pub(crate) fn detect() -> Option<Self> {
        static FOUND: AskedOnce = AskedOnce::new();
        let found = FOUND.get(|| (one_block::get() && two_blocks()).into());
        (found != 0).then_some(Self(()))
    }

    /// Computes the words of the round keys, one key for each round and one before the first (FIPS
    /// 197, section 5.2): fills `words` after the 4 or 8 words of the key.
    pub(crate) fn expand(self, key_words: usize, words: &mut [u32]) {
        // SAFETY: the token proves that the CPU has the instructions.
        unsafe { expand(key_words, words) }
    }

    /// Adds the keystream to the bytes. The last word of `counter` is the number of the next block.
    pub(crate) fn apply(
        self,
        round_keys: &[RoundKey],
        counter: &mut [u32; 4],
        chunks: &mut [[u8; 16 * BLOCKS]],
    ) {
        // SAFETY: the token proves that the CPU has the instructions.
        unsafe { apply(round_keys, counter, chunks) }
    }
}

/// Whether the CPU has the instructions for two blocks in a register; the caller checks that the
/// operating system supports such registers.
fn two_blocks() -> bool {
    // in an SGX enclave CPUID is not allowed
    if cfg!(target_env = "sgx") {
        return false;
    }
    #[allow(
        unused_unsafe,
        reason = "safe in later versions of Rust than the oldest that is supported"
    )]
    // SAFETY: every CPU with AVX2 has the instruction, and this leaf.
    let leaf = unsafe { __cpuid_count(7, 0) };
    leaf.ecx >> 9 & 1 == 1
}

#[target_feature(enable = "aes,avx2")]
fn expand(key_words: usize, words: &mut [u32]) {
    let mut round_constant = 1_u32;
    let mut place = 0;
    for i in key_words..words.len() {
        let before = words[i - 1];
        let substituted = || _mm_aeskeygenassist_si128::<0>(_mm_set1_epi32(before as i32));
        let added = match place {
            0 => {
                let word = _mm_extract_epi32::<1>(substituted()) as u32 ^ round_constant;
                // times x, modulo x⁸ + x⁴ + x³ + x + 1
                round_constant = (round_constant << 1) ^ ((round_constant >> 7) * 0x11b);
                word
            }
            4 if key_words > 6 => _mm_extract_epi32::<0>(substituted()) as u32,
            _ => before,
        };
        words[i] = words[i - key_words] ^ added;
        place += 1;
        if place == key_words {
            place = 0;
        }
    }
}

#[target_feature(enable = "avx2,vaes")]
fn apply(round_keys: &[RoundKey], counter: &mut [u32; 4], chunks: &mut [[u8; 16 * BLOCKS]]) {
    let [first, middle @ .., last] = round_keys else {
        return;
    };
    let (first, last) = (twice(first), twice(last));
    let big_endian = twice(&[0x0302_0100, 0x0706_0504, 0x0b0a_0908, 0x0c0d_0e0f]);
    let mut next = _mm256_add_epi32(twice(counter), _mm256_set_epi32(1, 0, 0, 0, 0, 0, 0, 0));
    for chunk in chunks {
        let mut blocks = [_mm256_setzero_si256(); REGISTERS];
        for blocks in &mut blocks {
            *blocks = _mm256_xor_si256(_mm256_shuffle_epi8(next, big_endian), first);
            next = _mm256_add_epi32(next, _mm256_set_epi32(2, 0, 0, 0, 2, 0, 0, 0));
        }
        for key in middle {
            let key = twice(key);
            for blocks in &mut blocks {
                *blocks = _mm256_aesenc_epi128(*blocks, key);
            }
        }
        for (bytes, blocks) in chunk.as_chunks_mut::<32>().0.iter_mut().zip(blocks) {
            let key = _mm256_aesenclast_epi128(blocks, last);
            // SAFETY: the array has the size of the register.
            unsafe {
                let bytes = bytes.as_mut_ptr().cast();
                _mm256_storeu_si256(bytes, _mm256_xor_si256(_mm256_loadu_si256(bytes), key));
            }
        }
    }
    counter[3] = _mm256_extract_epi32::<3>(next) as u32;
}

#[inline]
#[target_feature(enable = "avx2")]
fn twice(words: &[u32; 4]) -> __m256i {
    // SAFETY: the array has the size of the register.
    _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(words.as_ptr().cast()) })
}
