//! Functions that write into a caller's place give the same as the forms that return a value, and write
//! nothing if they refuse.

use pq_core::ml_dsa::{self, MlDsa44, MlDsa65, MlDsa87};
use pq_core::ml_kem::{self, MlKem512, MlKem768, MlKem1024, SharedSecret};
use pq_core::slh_dsa::{self, SlhDsaSha2_128f, SlhDsaShake256f};
use pq_core::{Dimension, Error};

use crate::stream::Stream;

#[test]
fn ml_kem_keys_and_secrets() {
    fn check<P: ml_kem::ParameterSet>() {
        type Key<P> = ml_kem::DecapsulationKey<P>;
        let mut stream = Stream::new(P::NAME.as_bytes());
        let (seed, m) = (stream.array(), stream.array());
        let key = Key::<P>::from_seed(&seed);
        let expanded = key.to_expanded().as_ref().to_vec();

        let mut place = Some(Key::<P>::from_seed(&stream.array()));
        let made = Key::from_seed_into(&seed, &mut place);
        assert_eq!(made.to_expanded().as_ref(), expanded);
        assert_eq!(made.seed(), Some(&seed));
        let read = Key::from_expanded_into(&expanded, &mut place).expect("valid");
        assert_eq!(read.to_expanded().as_ref(), expanded);
        assert_eq!(read.seed(), None);
        let mut copy = key.clone();
        assert_eq!(copy.seed(), Some(&seed));
        copy.clone_from(read);
        assert_eq!(copy.seed(), None);
        copy.clone_from(&key);
        assert_eq!(copy.seed(), Some(&seed));
        assert_eq!(copy.to_expanded().as_ref(), expanded);
        #[cfg(feature = "alloc")]
        for boxed in [
            Key::<P>::boxed_from_seed(&seed),
            Key::boxed_from_expanded(&expanded).expect("valid"),
        ] {
            assert_eq!(boxed.to_expanded().as_ref(), expanded);
        }

        let mut refused = expanded.clone();
        refused[0] ^= 1;
        let error = Key::<P>::from_expanded(&refused).map(drop);
        assert!(error.is_err());
        assert_eq!(
            Key::from_expanded_into(&refused, &mut place).map(|_| ()),
            error
        );
        assert!(place.is_none());
        #[cfg(feature = "alloc")]
        assert_eq!(Key::<P>::boxed_from_expanded(&refused).map(drop), error);

        let mut output = vec![7; P::DECAPSULATION_KEY_LEN];
        key.to_expanded_into(&mut output).expect("of this length");
        assert_eq!(output, expanded);
        check_length(P::DECAPSULATION_KEY_LEN, |output| {
            key.to_expanded_into(output)
        });

        let (ciphertext, secret) = key.encapsulation_key().encapsulate(&m);
        let mut ours = [7; 32];
        let mut output = vec![7; P::CIPHERTEXT_LEN];
        let encapsulated = key
            .encapsulation_key()
            .encapsulate_into(&m, &mut output, &mut ours);
        assert_eq!(encapsulated, Ok(()));
        assert_eq!(
            (&output[..], &ours),
            (ciphertext.as_bytes(), secret.as_bytes())
        );
        let mut theirs = [7; 32];
        assert_eq!(key.decapsulate_into(&output, &mut theirs), Ok(()));
        assert_eq!(theirs, ours);
        assert_eq!(SharedSecret::from_bytes(&theirs), secret);
        // implicitly rejected
        output[0] ^= 1;
        let ciphertext = ml_kem::Ciphertext::from_bytes(&output).expect("of this length");
        assert_eq!(key.decapsulate_into(&output, &mut theirs), Ok(()));
        assert_eq!(&theirs, key.decapsulate(&ciphertext).as_bytes());
        assert_ne!(theirs, ours);

        let mut untouched = [7; 32];
        check_length(P::CIPHERTEXT_LEN, |output| {
            key.decapsulate_into(output, &mut untouched)
        });
        check_length(P::CIPHERTEXT_LEN, |output| {
            key.encapsulation_key()
                .encapsulate_into(&m, output, &mut untouched)
        });
        assert_eq!(untouched, [7; 32]);
    }

    check::<MlKem512>();
    check::<MlKem768>();
    check::<MlKem1024>();
}

#[test]
fn ml_dsa_keys() {
    fn check<P: ml_dsa::ParameterSet>() {
        type Key<P> = ml_dsa::SigningKey<P>;
        let mut stream = Stream::new(P::NAME.as_bytes());
        let seed = stream.array();
        let key = Key::<P>::from_seed(&seed);
        let expanded = key.to_expanded().as_ref().to_vec();

        let mut place = Some(Key::<P>::from_seed(&stream.array()));
        let made = Key::from_seed_into(&seed, &mut place);
        assert_eq!(made.to_expanded().as_ref(), expanded);
        assert_eq!(made.seed(), Some(&seed));
        let read = Key::from_expanded_into(&expanded, &mut place).expect("valid");
        assert_eq!(read.to_expanded().as_ref(), expanded);
        assert_eq!(read.seed(), None);
        let mut copy = key.clone();
        assert_eq!(copy.seed(), Some(&seed));
        copy.clone_from(read);
        assert_eq!(copy.seed(), None);
        copy.clone_from(&key);
        assert_eq!(copy.seed(), Some(&seed));
        assert_eq!(copy.to_expanded().as_ref(), expanded);
        let sign = |key: &Key<P>| key.sign(b"message", b"", &seed);
        assert_eq!(sign(&copy), sign(&key));
        #[cfg(feature = "alloc")]
        for boxed in [
            Key::<P>::boxed_from_seed(&seed),
            Key::boxed_from_expanded(&expanded).expect("valid"),
        ] {
            assert_eq!(boxed.to_expanded().as_ref(), expanded);
        }

        let mut refused = expanded.clone();
        *refused.last_mut().expect("not empty") ^= 1;
        let error = Err(Error::InconsistentKey);
        assert_eq!(
            Key::from_expanded_into(&refused, &mut place).map(|_| ()),
            error
        );
        assert!(place.is_none());
        #[cfg(feature = "alloc")]
        assert_eq!(Key::<P>::boxed_from_expanded(&refused).map(drop), error);

        let mut output = vec![7; P::SIGNING_KEY_LEN];
        key.to_expanded_into(&mut output).expect("of this length");
        assert_eq!(output, expanded);
        check_length(P::SIGNING_KEY_LEN, |output| key.to_expanded_into(output));
    }

    check::<MlDsa44>();
    check::<MlDsa65>();
    check::<MlDsa87>();
}

#[test]
fn slh_dsa_keys() {
    fn check<P: slh_dsa::ParameterSet>() {
        type Key<P> = slh_dsa::SigningKey<P>;
        let mut stream = Stream::new(P::NAME.as_bytes());
        let (seed, other) = (stream.bytes(P::SeedLen::N), stream.bytes(P::SeedLen::N));
        let [seed, other] =
            [seed, other].map(|seed| crate::parameter_sets::array::<P::SeedLen>(&seed));
        let key = Key::<P>::from_seed(&seed);
        let bytes = key.as_bytes();

        let mut place = Some(Key::<P>::from_seed(&other));
        let made = Key::from_seed_into(&seed, &mut place);
        assert_eq!(made.as_bytes(), bytes);
        assert_eq!(made.verifying_key(), key.verifying_key());
        let read = Key::from_bytes_into(bytes, &mut place).expect("of this length");
        assert_eq!(read.as_bytes(), bytes);
        let mut copy = Key::<P>::from_seed(&other);
        copy.clone_from(read);
        assert_eq!(copy.as_bytes(), bytes);
        assert_eq!(copy.verifying_key(), key.verifying_key());
        #[cfg(feature = "alloc")]
        for boxed in [
            Key::<P>::boxed_from_seed(&seed),
            Key::boxed_from_bytes(bytes).expect("of this length"),
        ] {
            assert_eq!(boxed.as_bytes(), bytes);
        }

        let error = Key::<P>::from_bytes(&bytes[1..]).map(drop);
        assert!(matches!(error, Err(Error::WrongLength { .. })));
        assert_eq!(
            Key::from_bytes_into(&bytes[1..], &mut place).map(|_| ()),
            error
        );
        assert!(place.is_none());
    }

    check::<SlhDsaShake256f>();
    check::<SlhDsaSha2_128f>();
}

/// Checks that an output that is too short or too long is refused, and not written to.
fn check_length(expected: usize, mut write: impl FnMut(&mut [u8]) -> Result<(), Error>) {
    for actual in [0, expected - 1, expected + 1] {
        let mut output = vec![7; actual];
        assert_eq!(
            write(&mut output),
            Err(Error::WrongLength { expected, actual })
        );
        assert!(output.iter().all(|byte| *byte == 7));
    }
}
