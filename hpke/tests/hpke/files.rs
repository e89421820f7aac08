//! Files: whole, altered, and cut short.

use std::io::{self, Read, Write};

use pq_hpke::{
    Aead, DecryptionError, Decryptor, EncryptionError, Encryptor, Kdf, Kem, Sender, Suite,
};

use crate::recipients::pair;

const CHUNK: usize = 65_536;

const TAG: usize = 16;

/// The length of the part before the chunks, with a key of ML-KEM-512.
const HEAD: usize = 14 + 768;

pub(crate) fn content(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i / 251) as u8 ^ i as u8).collect()
}

fn encrypted(kem: Kem, content: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    let len = Encryptor::new(pair(kem, 1).1).encrypt(content, &mut file);
    assert_eq!(len.unwrap(), content.len() as u64);
    file
}

/// The result, and the bytes that were written, whether all or not.
fn decrypted(kem: Kem, file: &[u8]) -> (Result<u64, DecryptionError>, Vec<u8>) {
    let mut content = Vec::new();
    let decrypted = Decryptor::new(pair(kem, 1).0).decrypt(file, &mut content);
    (decrypted.map(|decrypted| decrypted.len), content)
}

/// Gives one byte at a time, as a socket may, with interruptions.
struct OneByOne<'b>(&'b [u8], bool);

impl Read for OneByOne<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.1 = !self.1;
        if self.1 {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let len = buffer.len().min(1);
        self.0.read(&mut buffer[..len])
    }
}

#[test]
fn every_suite_and_length() {
    for kem in Kem::ALL {
        let (key, public) = pair(*kem, 1);
        for kdf in Kdf::ALL {
            for aead in Aead::ALL {
                let suite = Suite {
                    kdf: *kdf,
                    aead: *aead,
                };
                let mut file = Vec::new();
                let encryptor = Encryptor::new(public.clone()).suite(suite);
                encryptor.encrypt(&b"content"[..], &mut file).unwrap();
                assert_eq!(file.len(), 14 + kem.enc_len() + 7 + TAG);
                let mut found = Vec::new();
                let decryptor = Decryptor::new(key.clone());
                let decrypted = decryptor.decrypt(&file[..], &mut found).unwrap();
                assert_eq!(found, b"content");
                assert_eq!((decrypted.kem, decrypted.suite), (*kem, suite));
            }
        }
    }
    for len in [
        0,
        1,
        CHUNK - 1,
        CHUNK,
        CHUNK + 1,
        2 * CHUNK,
        3 * CHUNK + 100,
    ] {
        let content = content(len);
        let file = encrypted(Kem::MlKem512, &content);
        let chunks = len.div_ceil(CHUNK).max(1);
        assert_eq!(file.len(), HEAD + len + TAG * chunks);
        let (found, written) = decrypted(Kem::MlKem512, &file);
        assert_eq!(found.unwrap(), len as u64);
        assert!(written == content, "{len}");
    }
    let content = content(CHUNK + 5);
    let (key, public) = pair(Kem::MlKem512, 1);
    let mut file = Vec::new();
    let from = OneByOne(&content, false);
    Encryptor::new(public).encrypt(from, &mut file).unwrap();
    let mut found = Vec::new();
    let from = OneByOne(&file, false);
    Decryptor::new(key).decrypt(from, &mut found).unwrap();
    assert!(found == content);
}

#[test]
fn two_files_of_the_same_have_nothing_in_common() {
    let one = encrypted(Kem::XWing, b"content");
    let other = encrypted(Kem::XWing, b"content");
    assert_ne!(one[14..46], other[14..46]);
    assert_ne!(one[14 + 1120..], other[14 + 1120..]);
}

#[test]
fn every_byte_counts() {
    for kem in [Kem::MlKem512, Kem::XWing] {
        let file = encrypted(kem, b"content");
        for at in 0..file.len() {
            for mask in [1, 0x80] {
                let mut changed = file.clone();
                changed[at] ^= mask;
                let (refused, written) = decrypted(kem, &changed);
                refused.unwrap_err();
                assert!(written.is_empty(), "{at}");
            }
        }
        for cut in 0..file.len() {
            let (refused, written) = decrypted(kem, &file[..cut]);
            refused.unwrap_err();
            assert!(written.is_empty(), "{cut}");
        }
        for more in [1, TAG, TAG + 1, 100_000] {
            let (refused, written) = decrypted(kem, &[&file[..], &vec![0; more]].concat());
            refused.unwrap_err();
            assert!(written.is_empty(), "{more}");
        }
    }
}

/// The chunks of a file that are written are authentic, and the error says how many bytes they have.
#[test]
fn chunks_stay_in_their_places() {
    let content = content(3 * CHUNK + 100);
    let file = encrypted(Kem::MlKem512, &content);
    let (head, rest) = file.split_at(HEAD);
    let chunks: Vec<&[u8]> = rest.chunks(CHUNK + TAG).collect();
    assert_eq!(chunks.len(), 4);
    let check = |chunks: &[&[u8]], authentic: usize| {
        let (refused, written) = decrypted(Kem::MlKem512, &[head, &chunks.concat()].concat());
        match refused.unwrap_err() {
            DecryptionError::NotForThisKey => assert_eq!(authentic, 0),
            DecryptionError::Altered { written } => assert_eq!(written, authentic as u64),
            other => panic!("{other}"),
        }
        assert!(written == content[..authentic], "{authentic}");
    };
    let [a, b, c, d] = chunks[..] else { panic!() };
    check(&[b, a, c, d], 0);
    check(&[a, c, b, d], CHUNK);
    check(&[a, b, d, c], 2 * CHUNK);
    check(&[a, a, b, c, d], CHUNK);
    check(&[b, c, d], 0);
    check(&[a, c, d], CHUNK);
    check(&[a, b, d], 2 * CHUNK);
    // a chunk that is not the last one can't become the last
    check(&[a], 0);
    check(&[a, b], CHUNK);
    check(&[a, b, c], 2 * CHUNK);
    check(&[a, b, c, d, d], 3 * CHUNK);
    check(&[a, b, c, d, &[0]], 3 * CHUNK);
    check(&[a, b, c, &d[..d.len() - 1]], 3 * CHUNK);
    check(&[a, b, c, &d[..TAG]], 3 * CHUNK);
    check(&[a, b, c, &d[..1]], 3 * CHUNK);
    // a chunk of another file for the same key
    let other = encrypted(Kem::MlKem512, &content);
    check(
        &[a, &other[HEAD..][CHUNK + TAG..][..CHUNK + TAG], c, d],
        CHUNK,
    );
    for at in [0, CHUNK, CHUNK + TAG, 3 * (CHUNK + TAG), rest.len() - 1] {
        let mut changed = rest.to_vec();
        changed[at] ^= 1;
        check(&[&changed], at / (CHUNK + TAG) * CHUNK);
    }

    // In a file whose chunks are full, no other chunk can become the last.
    let full = encrypted(Kem::MlKem512, &content[..2 * CHUNK]);
    let (refused, written) = decrypted(Kem::MlKem512, &full[..full.len() - CHUNK - TAG]);
    assert!(matches!(refused, Err(DecryptionError::NotForThisKey)));
    assert!(written.is_empty());
}

/// Files that somebody made with the key and not as this crate does: each chunk is authentic, and still some content would
/// have two encodings, or a file no end.
#[test]
fn chunks_are_cut_in_one_way() {
    let (_, public) = pair(Kem::MlKem512, 1);
    let head = encrypted(Kem::MlKem512, b"")[..14].to_vec();
    let made = |chunks: &[(u8, usize)]| {
        let (enc, mut sender) = Sender::new(&public, Suite::default(), &head).unwrap();
        let mut file = [&head[..], &enc].concat();
        for (aad, len) in chunks {
            file.extend(sender.seal(&[*aad], &content(*len)).unwrap());
        }
        decrypted(Kem::MlKem512, &file)
    };
    for good in [
        &[(1, 0)][..],
        &[(1, CHUNK)],
        &[(0, CHUNK), (1, 1)],
        &[(0, CHUNK), (0, CHUNK), (1, CHUNK)],
    ] {
        let (found, written) = made(good);
        assert_eq!(found.unwrap(), written.len() as u64);
    }
    for (bad, authentic) in [
        // an empty chunk at the end, after one and after two
        (&[(0, CHUNK), (1, 0)][..], CHUNK),
        (&[(0, CHUNK), (0, CHUNK), (1, 0)], 2 * CHUNK),
        // one that is not the last but shorter
        (&[(0, 1), (1, 1)], 0),
        (&[(0, 0), (1, 1)], 0),
        (&[(0, CHUNK - 1), (1, CHUNK)], 0),
        // one that says of itself that it is not the last, or that it is
        (&[(0, 5)], 0),
        (&[(1, CHUNK), (1, 5)], 0),
        (&[(0, CHUNK), (2, 5)], CHUNK),
        (&[(0, CHUNK), (0, CHUNK)], CHUNK),
    ] {
        let (refused, written) = made(bad);
        match refused.unwrap_err() {
            DecryptionError::NotForThisKey => assert_eq!(authentic, 0, "{bad:?}"),
            DecryptionError::Altered { written } => {
                assert_eq!(written, authentic as u64, "{bad:?}")
            }
            other => panic!("{other}"),
        }
        assert_eq!(written.len(), authentic, "{bad:?}");
    }
}

/// One encryptor and one decryptor for many files: their contexts begin anew with each.
#[test]
fn encryptors_and_decryptors_are_used_again() {
    let (key, public) = pair(Kem::MlKem512, 1);
    let (encryptor, decryptor) = (Encryptor::new(public), Decryptor::new(key));
    let mut files = Vec::new();
    for len in [0, 5, CHUNK + 5, 3] {
        let mut file = Vec::new();
        encryptor.encrypt(&content(len)[..], &mut file).unwrap();
        files.push((len, file));
    }
    for (len, file) in files.iter().chain(files.iter().rev()) {
        let mut found = Vec::new();
        decryptor.decrypt(&file[..], &mut found).unwrap();
        assert!(found == content(*len));
        decryptor
            .decrypt(&file[..file.len() - 1], io::sink())
            .unwrap_err();
    }
}

#[test]
fn other_keys_and_infos_are_refused() {
    let (key, public) = pair(Kem::XWing, 1);
    let mut file = Vec::new();
    let encryptor = Encryptor::new(public).info(b"backup");
    encryptor.encrypt(&b"content"[..], &mut file).unwrap();
    let decrypt = |decryptor: Decryptor| decryptor.decrypt(&file[..], io::sink());
    decrypt(Decryptor::new(key.clone()).info(b"backup")).unwrap();
    for decryptor in [
        Decryptor::new(key.clone()),
        Decryptor::new(key).info(b"mail"),
        Decryptor::new(pair(Kem::XWing, 2).0).info(b"backup"),
    ] {
        let refused = decrypt(decryptor);
        assert!(matches!(refused, Err(DecryptionError::NotForThisKey)));
    }
    let refused = decrypt(Decryptor::new(pair(Kem::MlKem768, 1).0).info(b"backup"));
    let text = refused.unwrap_err().to_string();
    assert!(
        text.contains("X-Wing") && text.contains("ML-KEM-768"),
        "{text}"
    );
}

/// The header is put before the info, but lengths in errors are those of the caller's info.
#[test]
fn an_info_that_is_too_long_is_refused() {
    let (key, public) = pair(Kem::MlKem512, 1);
    let mut file = Vec::new();
    let longest = Encryptor::new(public.clone()).info(&[7; 65_521]);
    longest.encrypt(&b"content"[..], &mut file).unwrap();
    let decryptor = Decryptor::new(key.clone()).info(&[7; 65_521]);
    decryptor.decrypt(&file[..], io::sink()).unwrap();

    let text = "the info has 65522 bytes; it may have at most 65521";
    let longer = Encryptor::new(public).info(&[7; 65_522]);
    let refused = longer.encrypt(&b"content"[..], io::sink());
    assert_eq!(refused.unwrap_err().to_string(), text);
    let decryptor = Decryptor::new(key).info(&[7; 65_522]);
    let refused = decryptor.decrypt(&file[..], io::sink());
    assert_eq!(refused.unwrap_err().to_string(), text);
}

#[test]
fn other_files_are_called_by_their_names() {
    let file = encrypted(Kem::MlKem512, b"content");
    let check = |file: &[u8], text: &str| {
        let error = decrypted(Kem::MlKem512, file).0.unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    };
    check(b"", "not a file of this format");
    check(b"age-encryption.org/v1", "not a file of this format");
    check(b"pq-h", "cut short");
    check(&file[..10], "cut short");
    check(&file[..HEAD - 1], "cut short");
    check(&file[..HEAD], "cut short");
    let with = |at: usize, byte| {
        let mut changed = file.clone();
        changed[at] = byte;
        changed
    };
    check(&with(7, 2), "version 2");
    check(&with(8, 1), "KEM that is not supported, number 0x0140");
    check(&with(11, 2), "KDF that is not supported, number 0x0002");
    check(&with(12, 0xff), "AEAD that is not supported, number 0xff02");
}

/// Fails after this many bytes.
struct Limited(usize);

impl Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self
            .0
            .checked_sub(bytes.len())
            .ok_or(io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn errors_of_reading_and_writing() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
    }

    let content = content(CHUNK + 1);
    let file = encrypted(Kem::MlKem512, &content);
    let (key, public) = pair(Kem::MlKem512, 1);
    let encryptor = Encryptor::new(public);
    assert!(matches!(
        encryptor.encrypt(Broken, io::sink()),
        Err(EncryptionError::Read(_))
    ));
    for room in [0, 14, HEAD, HEAD + CHUNK + TAG] {
        assert!(matches!(
            encryptor.encrypt(&content[..], Limited(room)),
            Err(EncryptionError::Write(_))
        ));
    }
    let decryptor = Decryptor::new(key);
    for len in [0, 14, HEAD, HEAD + CHUNK] {
        assert!(matches!(
            decryptor.decrypt((&file[..len]).chain(Broken), io::sink()),
            Err(DecryptionError::Read(_))
        ));
    }
    for room in [0, CHUNK] {
        assert!(matches!(
            decryptor.decrypt(&file[..], Limited(room)),
            Err(DecryptionError::Write(_))
        ));
    }
}
