//! Keys that wrap the store's key, and files of policies.

use pq_keystore::policy::{InvalidPolicyFile, MAX_POLICY_FILE_LEN, Policy, Verb, Verbs};
use pq_keystore::sealing::{
    Argon2Cost, CredentialKek, Kek, KekError, KekForm, KeyFileKek, PassphraseKek, WrappedKey,
};

use crate::kit::{kek, user};

const KEY: [u8; 32] = [5; 32];

/// Two keys for files.
const KEYS: [&[u8; 32]; 2] = [
    b"one key of thirty-two bytes here",
    b"two keys of thirty-two bytes too",
];

#[test]
fn a_passphrase_wraps_and_unwraps() {
    let wrapped = kek(b"secret").wrap(&KEY, b"bound").unwrap();
    let other = kek(b"secret").wrap(&KEY, b"bound").unwrap();
    assert_ne!(wrapped, other);
    // whatever the cost that this program would choose
    let unwrapped = PassphraseKek::new(b"secret")
        .unwrap(&wrapped, b"bound")
        .unwrap();
    assert_eq!(*unwrapped, KEY);
    let is_wrong = |kek: &dyn Kek, wrapped: &WrappedKey, bound: &[u8]| {
        matches!(kek.unwrap(wrapped, bound), Err(KekError::Wrong { .. }))
    };
    assert!(is_wrong(&kek(b"secres"), &wrapped, b"bound"));
    assert!(is_wrong(&kek(b"secret"), &wrapped, b"bounc"));
    for byte in 0..wrapped.ciphertext.len() {
        let mut changed = wrapped.clone();
        changed.ciphertext[byte] ^= 1;
        assert!(is_wrong(&kek(b"secret"), &changed, b"bound"));
    }
    let mut short = wrapped;
    short.ciphertext.truncate(30);
    assert!(is_wrong(&kek(b"secret"), &short, b"bound"));
}

/// A file can't make a program take any memory or time.
#[test]
fn what_a_passphrase_costs_is_bounded() {
    let wrapped = kek(b"secret").wrap(&KEY, b"").unwrap();
    let costs = [
        [100 * 1024 * 1024, 1, 1],
        [u32::MAX, 1, 1],
        [64, u32::MAX, 1],
        [64, 0, 1],
        [64, 1, 0],
        [64, 1, 100],
        [7, 1, 1],
        [2 * 1024 * 1024, 3, 1],
    ];
    for cost in costs {
        let mut changed = wrapped.clone();
        let numbers = cost.map(u32::to_be_bytes).concat();
        changed.parameters[1..13].copy_from_slice(&numbers);
        let refused = kek(b"secret").unwrap(&changed, b"");
        assert!(
            matches!(refused, Err(KekError::Parameters { .. })),
            "{cost:?}"
        );
        let [memory, passes, lanes] = cost;
        let own = PassphraseKek::new(b"secret").cost(Argon2Cost {
            memory,
            passes,
            lanes,
        });
        assert!(matches!(
            own.wrap(&KEY, b""),
            Err(KekError::Parameters { .. })
        ));
    }
    for parameters in [
        &[][..],
        &wrapped.parameters[1..],
        &[&wrapped.parameters[..], b"\0"].concat(),
    ] {
        let changed = WrappedKey {
            parameters: parameters.into(),
            ..wrapped.clone()
        };
        let refused = kek(b"secret").unwrap(&changed, b"");
        assert!(matches!(refused, Err(KekError::Parameters { .. })));
    }
}

#[cfg(unix)]
#[test]
fn a_key_in_a_file_is_its_owners() {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kek");
    let write = |bytes: &[u8], mode| {
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
    };
    // Anybody guesses such a key.
    for byte in [0, 255] {
        write(&[byte; 32], 0o600);
        let wrapped = KeyFileKek::read(&path).unwrap().wrap(&KEY, b"bound");
        assert!(matches!(wrapped, Err(KekError::Guessable { .. })));
    }
    write(KEYS[0], 0o600);
    let first = KeyFileKek::read(&path).unwrap();
    let wrapped = first.wrap(&KEY, b"bound").unwrap();
    assert_eq!(
        *KeyFileKek::read(&path)
            .unwrap()
            .unwrap(&wrapped, b"bound")
            .unwrap(),
        KEY
    );
    for mode in [0o640, 0o604, 0o620, 0o601] {
        write(&[1; 32], mode);
        let refused = KeyFileKek::read(&path).err().unwrap().to_string();
        assert!(refused.contains("chmod 600"), "{refused}");
    }
    for len in [0, 31, 33, 100_000] {
        write(&vec![1; len], 0o600);
        let refused = KeyFileKek::read(&path).err().unwrap().to_string();
        assert!(refused.contains("32 bytes"), "{refused}");
    }
    for (contents, expected) in [
        (&[&[1; 32][..], b"\n"].concat()[..], Some(KekForm::LineEnd)),
        (&[&[1; 32][..], b"\r\n"].concat(), Some(KekForm::LineEnd)),
        (&[&[1; 32][..], b"x"].concat(), None),
        (&b"0f".repeat(32), Some(KekForm::Hexadecimal)),
        (
            &[&b"0F".repeat(32)[..], b"\n"].concat(),
            Some(KekForm::Hexadecimal),
        ),
        (&b"0f".repeat(31), None),
        (
            &[&b"+/".repeat(21)[..], b"A=\n"].concat(),
            Some(KekForm::Base64),
        ),
        (
            &[&b"-_".repeat(21)[..], b"A"].concat(),
            Some(KekForm::Base64),
        ),
        (b"", None),
    ] {
        write(contents, 0o600);
        let Err(KekError::Length { len, form, .. }) = KeyFileKek::read(&path) else {
            panic!("{}", contents.escape_ascii());
        };
        assert_eq!((len, form), (contents.len(), expected));
    }
    write(KEYS[1], 0o600);
    let other = KeyFileKek::read(&path).unwrap();
    assert!(matches!(
        other.unwrap(&wrapped, b"bound"),
        Err(KekError::Wrong { kind: "key-file" })
    ));
    let with_parameters = WrappedKey {
        parameters: vec![1],
        ..wrapped
    };
    assert!(matches!(
        first.unwrap(&with_parameters, b"bound"),
        Err(KekError::Parameters { .. })
    ));
    KeyFileKek::read(folder.path()).err().unwrap();
    KeyFileKek::read(&folder.path().join("missing"))
        .err()
        .unwrap();
    // No service of systemd's runs this test.
    if std::env::var_os("CREDENTIALS_DIRECTORY").is_none() {
        CredentialKek::read("kek").err().unwrap();
    }
    for name in ["", "../kek", "a/b", ".."] {
        CredentialKek::read(name).err().unwrap();
    }
}

#[test]
fn a_policy_file_says_what_it_means() {
    let text = "\
        exportable = true\nmin-version = 3\nrotate-after = \"90d\"\ninputs = [\"digest\"]\nmax-message = 5\n\
        when-away = \"refuse\"\naudit = \"each\"\ndestroy-after = \"2h\"\n[grants]\nuser = [\"sign\", \"public\"]\n\"*\" = [\"show\"]\n";
    let policy = Policy::from_toml(text).unwrap();
    assert_eq!(Policy::from_toml(&policy.to_toml()).unwrap(), policy);
    assert!(
        policy.grants.permits(&user(), Verb::Sign) && policy.grants.permits(&user(), Verb::Verify)
    );
    assert!(!policy.grants.permits(&user(), Verb::Decapsulate));
    assert_eq!(policy.grants.anyone(), Verbs::from(Verb::Show));
    let default = Policy::from_toml("").unwrap();
    assert_eq!(default, Policy::default());
    assert_eq!(Policy::from_toml(&default.to_toml()).unwrap(), default);
    // A role has only what a key can grant.
    let manager = Policy::from_toml("[grants]\nuser = [\"manager\"]\n").unwrap();
    assert!(!manager.grants.permits(&user(), Verb::Create));
    for (text, part) in [
        ("exportble = true", "exportble"),
        ("[grant]\n", "grant"),
        ("exportable = 1", "exportable"),
        ("min-version = 0", "min-version"),
        ("rotate-after = \"90\"", "rotate-after"),
        ("rotate-after = \"-1d\"", "rotate-after"),
        ("rotate-after = \"99999999999999999999d\"", "rotate-after"),
        ("rotate-after = \"1e3s\"", "rotate-after"),
        ("when-away = \"é\"", "when-away"),
        ("inputs = [\"hash\"]", "hash"),
        ("audit = \"never\"", "audit"),
        ("max-message = -1", "max-message"),
        ("max-message = 9000000000000000000", "1 TiB"),
        ("[grants]\nuser = [\"create\"]", "store"),
        ("[grants]\nuser = [\"signs\"]", "signs"),
        ("[grants]\n\"a b\" = [\"sign\"]", "principal"),
        ("[grants]\n\"\" = [\"sign\"]", "principal"),
    ] {
        let refused = Policy::from_toml(text).unwrap_err().to_string();
        assert!(refused.contains(part), "{text}: {refused}");
    }
    let long = "#".repeat(MAX_POLICY_FILE_LEN + 1);
    assert_eq!(Policy::from_toml(&long), Err(InvalidPolicyFile::TooLong));
    let many: String = (0..129)
        .map(|number| format!("u{number} = [\"sign\"]\n"))
        .collect();
    assert!(Policy::from_toml(&format!("[grants]\n{many}")).is_err());
}
