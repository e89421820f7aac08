//! The memory that files need does not depend on their length.

use std::io::{self, Read, Seek, SeekFrom};

use allocation_counter::measure;
use pq_hpke::{Decryptor, Encryptor, Kem};

use crate::recipients::pair;

/// This many zeros.
fn zeros(len: u64) -> impl Read {
    io::repeat(0).take(len)
}

#[test]
fn is_constant() {
    const LIMIT: u64 = 128 * 1024;
    let (key, public) = pair(Kem::XWing, 1);
    let (encryptor, decryptor) = (Encryptor::new(public), Decryptor::new(key));
    let mut peaks = Vec::new();
    for len in [0, 1, 8 << 20] {
        let mut file = tempfile::tempfile().unwrap();
        let encrypting = measure(|| {
            let encrypted = encryptor.encrypt(zeros(len), &mut file);
            assert_eq!(encrypted.unwrap(), len);
        });
        file.seek(SeekFrom::Start(0)).unwrap();
        let decrypting = measure(|| {
            let decrypted = decryptor.decrypt(&mut file, io::sink());
            assert_eq!(decrypted.unwrap().len, len);
        });
        peaks.push([encrypting.bytes_max, decrypting.bytes_max]);
    }
    assert_eq!(peaks[1], peaks[2]);
    // In debug builds, graviola's hash asks the environment for "GRAVIOLA_CPU_DISABLE_…", and an empty file isn't hashed.
    let name = if cfg!(debug_assertions) { 64 } else { 0 };
    for (empty, other) in peaks[0].iter().zip(&peaks[1]) {
        assert!((other - name..=*other).contains(empty), "{peaks:?}");
    }
    assert!(peaks[1].iter().all(|peak| *peak < LIMIT), "{peaks:?}");
}
