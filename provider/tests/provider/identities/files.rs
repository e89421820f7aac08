//! Unsuitable files, and many files.

use alloc::sync::Arc;
use core::time::Duration;
use std::fs;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::time::{Instant, SystemTime};

use pq_x509::keys::encoding::pem;
use rustls::crypto::{CryptoProvider, KeyProvider};
use rustls::pki_types::PrivateKeyDer;
use rustls::sign::SigningKey;
use rustls_pq::identity::{FilePair, Identity, IdentityError, IdentityFiles};

use crate::events;
use crate::rotation::{Files, OFTEN, Pki, provider};

/// A pipe that nobody writes into: a reader that opens it like a file waits for ever.
#[cfg(unix)]
#[test]
fn pipes_are_not_read() {
    let files = Files::new("pipe");
    files.put(&Pki::new().issue());
    fs::remove_file(&files.key).unwrap();
    make_pipe(&files.key);
    let load = IdentityFiles::new(provider()).with_default(&files.chain, &files.key);
    let error = in_time(move || load.load().unwrap_err());
    assert!(matches!(&error, IdentityError::NoRegularFile { path } if *path == files.key));
    assert!(
        error.to_string().contains("isn't a regular file"),
        "{error}"
    );

    for path in ["/dev/zero", "/"] {
        let load = IdentityFiles::new(provider()).with_default(path, path);
        let error = in_time(move || load.load().unwrap_err());
        assert!(matches!(error, IdentityError::NoRegularFile { .. }));
    }
}

/// A pipe that replaces a watched file is refused. The other files are still watched, and the watcher
/// can be dropped.
#[cfg(unix)]
#[test]
fn a_pipe_in_place_of_a_file() {
    events::record();
    let pki = Pki::new();
    let [piped, other] = ["piped", "beside a pipe"].map(Files::new);
    let [old, new] = [(); 2].map(|()| pki.issue());
    piped.put(&old);
    other.put(&old);
    let watch = IdentityFiles::new(provider())
        .with_default(&piped.chain, &piped.key)
        .with_default(&other.chain, &other.key);
    let (identities, watcher) = watch.watch(OFTEN).unwrap();
    fs::remove_file(&piped.key).unwrap();
    make_pipe(&piped.key);
    events::wait_for(&["WARN", "isn't a regular file", &piped.name()]);
    other.put(&new);
    new.wait_until_served_by(&identities);
    assert!(old.is_served_by(&identities));
    in_time(move || drop(watcher));
}

/// A file that hangs, as on a file server that is gone, can't be made without such a server. So the key
/// provider, which the same thread calls, waits instead.
#[test]
fn the_end_does_not_wait_for_a_file() {
    static WAITS: OnceLock<(Sender<()>, Mutex<Receiver<()>>)> = OnceLock::new();

    #[derive(Debug)]
    struct Waits;

    impl KeyProvider for Waits {
        fn load_private_key(
            &self,
            key: PrivateKeyDer<'static>,
        ) -> Result<Arc<dyn SigningKey>, rustls::Error> {
            if let Some((is_waiting, waits)) = WAITS.get() {
                is_waiting.send(()).unwrap();
                waits.lock().unwrap().recv().unwrap();
            }
            provider().key_provider.load_private_key(key)
        }
    }

    events::record();
    let pki = Pki::new();
    let files = Files::new("hanging");
    let [old, new] = [(); 2].map(|()| pki.issue());
    files.put(&old);
    let provider = CryptoProvider {
        key_provider: &Waits,
        ..(*provider()).clone()
    };
    let watch = IdentityFiles::new(provider.into()).with_default(&files.chain, &files.key);
    let (identities, watcher) = watch.watch(OFTEN).unwrap();

    let (go_on, waits) = mpsc::channel();
    let (waiting, is_waiting) = mpsc::channel();
    WAITS.set((waiting, Mutex::new(waits))).unwrap();
    files.put(&new);
    is_waiting.recv_timeout(Duration::from_secs(30)).unwrap();
    let start = Instant::now();
    drop(watcher);
    let took = start.elapsed();
    // The thread waits for ever, and dropping gives it a second.
    assert!(took < Duration::from_secs(20), "{took:?}");
    events::wait_for(&["WARN", "is left behind"]);

    // The pair that it loads in the end isn't served any more.
    go_on.send(()).unwrap();
    thread::sleep(20 * OFTEN);
    assert!(old.is_served_by(&identities));
    assert!(!new.is_served_by(&identities));
}

#[test]
fn files_that_are_too_large() {
    let files = Files::new("large");
    files.put(&Pki::new().issue());
    let load = || {
        let files = IdentityFiles::new(provider()).with_default(&files.chain, &files.key);
        files.load()
    };
    let file = fs::OpenOptions::new()
        .write(true)
        .open(&files.chain)
        .unwrap();
    // Zeros after the end of a PEM text are ignored.
    file.set_len(1 << 20).unwrap();
    assert!(load().is_ok());
    file.set_len((1 << 20) + 1).unwrap();
    let error = load().unwrap_err();
    assert!(
        matches!(&error, IdentityError::FileTooLarge { path, len: 1_048_577, limit: 1_048_576 }
            if *path == files.chain)
    );
    let text = error.to_string();
    assert!(
        text.contains(
            "has 1048577 bytes, but a chain, a key or an OCSP response may have at most 1048576"
        ),
        "{text}"
    );
}

#[cfg(unix)]
#[test]
fn keys_that_others_can_read() {
    use std::os::unix::fs::PermissionsExt;

    events::record();
    let pki = Pki::new();
    let files = Files::new("exposed");
    let set_mode = |mode| {
        let permissions = fs::Permissions::from_mode(mode);
        fs::set_permissions(&files.key, permissions).unwrap();
    };
    let reports = || events::lines(&["WARN", "can be read by everybody", &files.name()]);
    let load = || {
        let load = IdentityFiles::new(provider()).with_default(&files.chain, &files.key);
        load.load().unwrap();
    };
    files.put(&pki.issue());
    for (mode, is_exposed) in [
        (0o600, false),
        (0o400, false),
        (0o711, false),
        // For a group that only the service uses.
        (0o640, false),
        (0o440, false),
        (0o604, true),
        (0o602, true),
        (0o620, true),
        (0o644, true),
    ] {
        let before = reports().len();
        set_mode(mode);
        load();
        assert_eq!(
            reports().len() - before,
            usize::from(is_exposed),
            "{mode:o}"
        );
    }
    let text = reports().pop().unwrap();
    assert!(
        text.contains("644") && text.contains("chmod g-w,o="),
        "{text}"
    );

    // It is reported once for each key, and not at each look.
    set_mode(0o600);
    let watch = IdentityFiles::new(provider()).with_default(&files.chain, &files.key);
    let (identities, _watcher) = watch.watch(OFTEN).unwrap();
    let before = reports().len();
    let exposed = pki.issue();
    fs::write(&files.chain, &exposed.chain).unwrap();
    fs::write(&files.key, &exposed.key).unwrap();
    set_mode(0o644);
    exposed.wait_until_served_by(&identities);
    thread::sleep(20 * OFTEN);
    assert_eq!(reports().len() - before, 1);

    // Also if only the mode changes.
    set_mode(0o640);
    thread::sleep(20 * OFTEN);
    assert_eq!(reports().len() - before, 1);
    set_mode(0o666);
    events::wait_for(&["WARN", "can be read by everybody", &files.name(), "=666"]);
    thread::sleep(20 * OFTEN);
    assert_eq!(reports().len() - before, 2);
}

/// Many files don't cost a whole core, however often they are looked at, and after some seconds only
/// changed files are read. Hard links count as files like copies would.
#[test]
fn many_files_cost_no_core() {
    const PAIRS: usize = 1_000;

    events::record();
    let pki = Pki::new();
    let [files, original] = ["one of many", "many"].map(Files::new);
    let [old, new] = [(); 2].map(|()| pki.issue());
    files.put(&old);
    original.put(&old);
    let watch = (1..PAIRS).fold(
        IdentityFiles::new(provider()).with(&files.chain, &files.key),
        |watch, at| {
            let [chain, key] = [&original.chain, &original.key].map(|file| {
                let link = file.with_extension(at.to_string());
                fs::hard_link(file, &link).unwrap();
                link
            });
            watch.with(chain, key)
        },
    );
    let start = Instant::now();
    let (identities, _watcher) = watch.watch(Duration::from_millis(1)).unwrap();
    let pairs = format!(" pairs={PAIRS} ");
    let parts = |read| ["DEBUG", "looked at the certificate files", &pairs, read];
    let looks = |read| events::lines(&parts(read));

    // At first all files are read.
    while looks(" read=0 ").is_empty() {
        assert!(start.elapsed() < Duration::from_secs(60));
        thread::sleep(OFTEN);
    }
    let all = looks("");
    let elapsed = start.elapsed();
    assert!(all[0].contains(&format!(" read={PAIRS} ")), "{}", all[0]);
    let seconds = |line: &String| -> f64 {
        let (_, seconds) = line.rsplit_once(" seconds=").unwrap();
        seconds.parse().unwrap()
    };
    // Without the last look, after which there was no pause yet.
    let looking: f64 = all[..all.len() - 1].iter().map(seconds).sum();
    println!("{} looks: {looking} s in {elapsed:?}", all.len());
    assert!(looking <= elapsed.as_secs_f64() / 10.0);

    // Now only the changed pair is read.
    files.put(&new);
    new.wait_until_served_by(&identities);
    events::wait_for(&parts(" read=1 "));
}

/// A file that is written again within one tick of its file system's clock differs only in its content.
/// A test can't reliably be that quick, so it sets the modification time back. The time of this change
/// itself, which Unix systems record, can't be set; elsewhere only the content differs.
#[test]
fn the_same_time_and_size() {
    let pki = Pki::new();
    let files = Files::new("tick");
    let [first, second] = [(); 2].map(|()| pki.issue());
    // The length of signatures doesn't vary.
    assert_eq!(first.chain.len(), second.chain.len());
    assert_eq!(first.key.len(), second.key.len());
    let time = SystemTime::now() - Duration::from_secs(3600);
    let put = |pair: &crate::rotation::Pair| {
        for (path, content) in [(&files.chain, &pair.chain), (&files.key, &pair.key)] {
            fs::write(path, content).unwrap();
            let file = fs::OpenOptions::new().write(true).open(path).unwrap();
            file.set_modified(time).unwrap();
        }
    };
    put(&first);
    let watch = IdentityFiles::new(provider()).with_default(&files.chain, &files.key);
    let (identities, _watcher) = watch.watch(OFTEN).unwrap();
    put(&second);
    second.wait_until_served_by(&identities);
}

/// When a file changes, identities that others added to the set stay, and those that they removed are
/// not put back.
#[test]
fn files_beside_others() {
    events::record();
    let pki = Pki::new();
    let files = Files::new("beside others");
    let [old, new, unwanted, tenant, last] = [(); 5].map(|()| pki.issue());
    files.put(&old);
    let anchor = "32473.1".parse().unwrap();
    let pair = FilePair::new(&files.chain, &files.key)
        .as_default()
        .with_trust_anchors([anchor])
        .with_protocols(["closed"]);
    let watch = IdentityFiles::new(provider()).with_pair(pair);
    let (identities, _watcher) = watch.watch(OFTEN).unwrap();
    let tenant_set = tenant.set(&provider());
    let of_tenant = tenant_set.identities().next().unwrap();
    identities.update(|set| set.with_name("tenant.test", of_tenant.clone()));

    files.put(&new);
    new.wait_until_served_by(&identities);
    assert!(tenant.is_served_by(&identities));
    // It takes the place of the one before, with all settings of the pair.
    let set = identities.current();
    let from_files = set.identities().next().unwrap();
    assert_eq!(from_files.certified_key().cert[0], new.leaf());
    assert_eq!(from_files.trust_anchors(), [anchor]);
    assert_eq!(from_files.protocols(), [b"closed"]);

    identities.update(|set| set.without(from_files));
    files.put(&unwanted);
    events::wait_for(&["INFO", "not served", &files.name()]);
    assert!(!unwanted.is_served_by(&identities));
    assert!(tenant.is_served_by(&identities));

    // A set from elsewhere is served until a file changes.
    identities.replace(tenant_set);
    files.put(&last);
    last.wait_until_served_by(&identities);
    assert!(!tenant.is_served_by(&identities));
}

/// Runs a function that must not wait.
fn in_time<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, is_done) = mpsc::channel();
    thread::spawn(move || done.send(run()));
    is_done
        .recv_timeout(Duration::from_secs(30))
        .expect("it waits for what never comes")
}

#[cfg(unix)]
fn make_pipe(path: &Path) {
    use rustix::fs::{CWD, FileType, Mode, mknodat};

    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

/// Files as other programs and editors leave them: with blanks and other text, or in DER.
#[test]
fn files_in_other_forms() {
    let files = Files::new("other forms");
    let issued = Pki::new().issue();
    let (chain, key) = (issued.chain.as_bytes(), issued.key.as_bytes());
    let load = || {
        IdentityFiles::new(provider())
            .with_default(&files.chain, &files.key)
            .load()
    };
    let rewritten = |text: &[u8]| {
        let text = String::from_utf8_lossy(text);
        [
            text.replace('\n', " \r\n\r\n  ").into_bytes(),
            [b"\xef\xbb\xbf", text.as_bytes()].concat(),
            [b"Schl\xfcssel\n", text.as_bytes(), b"\xff"].concat(),
            [b"-----BEGIN X-----\n", text.as_bytes()].concat(),
            text.replace("-----\n-----", "----------").into_bytes(),
        ]
    };
    for (chain, key) in rewritten(chain).iter().zip(rewritten(key)) {
        fs::write(&files.chain, chain).unwrap();
        fs::write(&files.key, key).unwrap();
        load().unwrap();
    }
    fs::write(
        &files.chain,
        pem::decode_first(chain, "CERTIFICATE").unwrap(),
    )
    .unwrap();
    fs::write(&files.key, pem::decode_first(key, "PRIVATE KEY").unwrap()).unwrap();
    load().unwrap();
    fs::write(&files.key, [0x30, 4, 0x30, 0, 4, 0]).unwrap();
    let refused = load().unwrap_err().to_string();
    assert!(refused.contains("its DER is neither PKCS#8"), "{refused}");
}

/// A chain with a damaged certificate is no shorter chain.
#[test]
fn what_is_damaged_is_not_left_out() {
    let issued = Pki::new().issue();
    let certificate = &issued.chain[..issued.chain.find("-----END").unwrap()];
    let after_begin = &certificate[certificate.find('\n').unwrap()..];
    let line = issued.chain.lines().count() + 1;
    let end = "-----END CERTIFICATE-----";
    for (second, words) in [
        (certificate.to_string(), "does not end"),
        (
            certificate.replacen("\nMI", "\nM?", 1) + end,
            "something else in it than base64",
        ),
        (
            format!("-----BEGIN CERTIFICATE----{after_begin}{end}"),
            "without all of its dashes",
        ),
        (format!("{certificate}-----END CERTIFICAT-----"), "ends as"),
    ] {
        let chain = issued.chain.clone() + &second;
        let error = Identity::from_pem(chain.as_bytes(), issued.key.as_bytes(), &provider());
        let error = error.unwrap_err().to_string();
        let place = format!("the PEM block \"CERTIFICATE\" in line {line} ");
        assert!(error.contains(&place) && error.contains(words), "{error}");
    }
    let chain = issued.chain.clone() + after_begin + end;
    let error = Identity::from_pem(chain.as_bytes(), issued.key.as_bytes(), &provider());
    assert!(error.unwrap_err().to_string().contains("no BEGIN line"));
}
