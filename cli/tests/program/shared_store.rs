//! `pqtls store` in PostgreSQL, on servers that these tests start.

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use core::time::Duration;
use std::thread;

use databases::{Cluster, new_schema, private_file};
use pq_keystore::policy::Input;
use serde_json::Value;

use crate::folder::{Folder, Outcome};
use crate::serve::client;
use crate::served::{Served, with_server};
use crate::store::make_keks;

/// Options of addresses that wait for a machine that is busy.
pub(crate) const PATIENCE: &str = "connect_timeout=120&timeout=120";

/// The address of an empty schema on the shared server, which is reached by a socket.
pub(crate) fn address() -> Option<String> {
    let folder = databases::shared()?.folder().display().to_string();
    let (host, schema) = (folder.replace('/', "%2F"), new_schema());
    Some(format!(
        "postgres://postgres@{host}/postgres?schema={schema}&{PATIENCE}"
    ))
}

/// Runs a command on a store there.
fn run(folder: &Folder, address: &str, line: &str) -> Outcome {
    folder.pqtls(&format!("store {line} --store {address} --kek-file kek"))
}

fn json(folder: &Folder, address: &str, line: &str) -> Value {
    let done = run(folder, address, &format!("{line} --json"));
    serde_json::from_str(done.ok()).unwrap()
}

#[test]
fn several_processes_use_one_store() {
    let Some(address) = address() else { return };
    let folder = Folder::new();
    make_keks(&folder);
    folder.write("app", "Version 1.0\n");
    let missing = run(&folder, &address, "list");
    assert_eq!(missing.status(), 3, "{}", missing.stderr());
    assert!(
        missing.stderr().contains("pqtls store init"),
        "{}",
        missing.stderr()
    );
    run(&folder, &address, "init").ok();
    let again = run(&folder, &address, "init");
    assert_eq!(again.status(), 3, "{}", again.stderr());
    run(
        &folder,
        &address,
        "new shop/files/app --algorithm ML-DSA-44 --grant operator=user",
    )
    .ok();
    // The environment names it, too.
    folder
        .shell(&format!(
            "PQTLS_STORE='{address}' pqtls store sign --key shop/files/app app --out env.sig --kek-file kek"
        ))
        .ok();
    const PROCESSES: usize = 3;
    let signed: Vec<_> = thread::scope(|scope| {
        let mut threads = Vec::new();
        for number in 0..PROCESSES {
            let (folder, address) = (&folder, &address);
            threads.push(scope.spawn(move || {
                let line = format!("sign --key shop/files/app app --out {number}.sig");
                run(folder, address, &line)
            }));
        }
        threads.into_iter().map(|one| one.join().unwrap()).collect()
    });
    for (number, signed) in signed.iter().enumerate() {
        signed.ok();
        let verify = format!("verify --key shop/files/app --signature {number}.sig app");
        run(&folder, &address, &verify).ok();
    }
    let checked = json(&folder, &address, "check");
    assert_eq!(
        (&checked["keys"], &checked["versions"]),
        (&1.into(), &1.into())
    );
}

/// Three servers have one store. A rotation by one is known to the others, each verifies what another signed, and one that
/// is killed takes nothing along.
#[test]
fn several_servers_have_one_store() {
    const SERVERS: usize = 3;
    const THREADS: usize = 6;
    const EACH: usize = 20;

    let Some(address) = address() else { return };
    let folder = with_server(&[]);
    run(&folder, &address, "init").ok();
    let mut grants = run(&folder, &address, "grants show").ok().to_string();
    grants.push_str("[\"shop/*\"]\noperator = [\"user\"]\n");
    folder.write("grants.toml", grants);
    run(&folder, &address, "grants set grants.toml").ok();
    let start = || {
        Served::start(
            &folder,
            &format!("--mount transit=shop/tokens --store {address}"),
        )
    };
    let mut servers: Vec<_> = (0..SERVERS).map(|_| start()).collect();
    let clients: Vec<_> = servers
        .iter()
        .map(|one| client(&folder, one.port))
        .collect();
    clients[0].create("session", "mldsa-44", false).unwrap();
    let (rotations, done) = (AtomicU32::new(0), AtomicBool::new(false));
    let signed: Vec<_> = thread::scope(|scope| {
        let rotator = scope.spawn(|| {
            while !done.load(Ordering::SeqCst) {
                clients[0].rotate("session").unwrap();
                rotations.fetch_add(1, Ordering::SeqCst);
                thread::sleep(Duration::from_millis(10));
            }
        });
        let threads: Vec<_> = (0..THREADS)
            .map(|number| {
                let clients = &clients;
                scope.spawn(move || {
                    let mut signed = Vec::new();
                    for index in 0..EACH {
                        let message = format!("{number} {index}");
                        let input = Input::message(message.as_bytes());
                        // Those whose server was killed ask another.
                        let by =
                            |server: usize| clients[server % SERVERS].sign("session", None, input);
                        let made = by(number).or_else(|_| by(number + 1)).unwrap();
                        let holds = |server: usize| {
                            let client = &clients[server % SERVERS];
                            client.verify("session", made.version, input, &made.signature)
                        };
                        assert!(holds(number + 1).or_else(|_| holds(number + 2)).unwrap());
                        signed.push((message, made));
                    }
                    signed
                })
            })
            .collect();
        while rotations.load(Ordering::SeqCst) < 5 {
            thread::sleep(Duration::from_millis(10));
        }
        drop(servers.pop());
        // The rotation ends also after a failure.
        let mut ended = Vec::new();
        for thread in threads {
            ended.push(thread.join());
        }
        done.store(true, Ordering::SeqCst);
        rotator.join().unwrap();
        ended.into_iter().flat_map(Result::unwrap).collect()
    });
    assert_eq!(signed.len(), THREADS * EACH);
    // What was made while another was away is known to it when it is back.
    servers.push(start());
    let last = client(&folder, servers[SERVERS - 1].port);
    for (message, made) in &signed {
        let input = Input::message(message.as_bytes());
        assert!(
            last.verify("session", made.version, input, &made.signature)
                .unwrap()
        );
    }
    let newest = rotations.into_inner() + 1;
    assert_eq!(
        last.sign("session", None, Input::message(b"a"))
            .unwrap()
            .version
            .get(),
        newest
    );
    let checked = json(&folder, &address, "check");
    assert_eq!(checked["versions"], newest);
}

#[test]
fn a_store_moves_between_a_file_and_a_database_with_its_log() {
    let (Some(first), Some(second), Some(third)) = (address(), address(), address()) else {
        return;
    };
    let folder = Folder::new();
    make_keks(&folder);
    folder.write("app", "Version 1.0\n");
    // from a file to a database
    folder.pqtls("store init --kek-file kek").ok();
    folder
        .pqtls(
            "store new shop/files/app --algorithm ML-DSA-44 --grant operator=user --kek-file kek",
        )
        .ok();
    folder
        .pqtls("store sign --key shop/files/app app --out 1.sig --kek-file kek")
        .ok();
    folder
        .pqtls("store audit head --out 1.head --kek-file kek")
        .ok();
    folder.pqtls("store backup 1.backup").ok();
    let wrong = folder.pqtls(&format!(
        "store restore 1.backup --store {first} --kek-file kek-2"
    ));
    assert_eq!(wrong.status(), 1, "{}", wrong.stderr());
    run(&folder, &first, "restore 1.backup --head 1.head").ok();
    let verify = "verify --key shop/files/app --signature 1.sig app";
    run(&folder, &first, verify).ok();
    assert_eq!(json(&folder, &first, "check --head 1.head")["heads"], 1);
    // What is there is not replaced.
    let taken = run(&folder, &first, "restore 1.backup");
    assert_eq!(taken.status(), 3, "{}", taken.stderr());
    assert!(
        taken.stderr().contains("is not empty"),
        "{}",
        taken.stderr()
    );
    // from a database to a file, and to another database
    run(&folder, &first, "rotate shop/files/app").ok();
    run(&folder, &first, "audit head --out 2.head").ok();
    folder
        .pqtls(&format!("store backup 2.backup --store {first}"))
        .ok();
    let old = run(&folder, &second, "restore 1.backup --head 2.head");
    assert_eq!(old.status(), 1, "{}", old.stderr());
    assert!(
        old.stderr().contains("the log does not lead"),
        "{}",
        old.stderr()
    );
    // Nothing came of that.
    run(&folder, &second, "restore 2.backup --head 2.head").ok();
    folder
        .pqtls("store restore 2.backup --head 2.head --store file.redb --kek-file kek")
        .ok();
    let versions = |shown: Value| shown["versions"].as_array().unwrap().len();
    assert_eq!(versions(json(&folder, &second, "show shop/files/app")), 2);
    assert_eq!(
        versions(json(&folder, "file.redb", "show shop/files/app")),
        2
    );
    run(&folder, &second, verify).ok();
    // A schema that only has tables is empty.
    assert_eq!(run(&folder, &third, "list").status(), 3);
    run(&folder, &third, "restore 2.backup").ok();
}

/// A restore that was interrupted is called that, and goes on with the same backup.
#[test]
fn an_interrupted_restore_goes_on() {
    let Some(address) = address() else { return };
    let folder = Folder::new();
    make_keks(&folder);
    folder.write("app", "Version 1.0\n");
    folder.pqtls("store init --kek-file kek").ok();
    folder
        .pqtls(
            "store new shop/files/app --algorithm ML-DSA-44 --grant operator=user --kek-file kek",
        )
        .ok();
    folder.pqtls("store backup 1.backup").ok();
    folder
        .pqtls("store rotate shop/files/app --kek-file kek")
        .ok();
    folder.pqtls("store backup 2.backup").ok();
    run(&folder, &address, "restore 1.backup").ok();
    // as if it had been killed before it wrote its last rows
    let (_, schema) = address.split_once("schema=").unwrap();
    let (schema, _) = schema.split_once('&').unwrap();
    let cluster = databases::shared().unwrap();
    cluster.run(
        5432,
        &format!("DELETE FROM {schema}.rows WHERE key IN ('kek', 'store', 'version/shop/files/app#0000000001')"),
    );
    for line in ["list", "init"] {
        let told = run(&folder, &address, line);
        assert_eq!(told.status(), 3, "{}", told.stderr());
        for words in [
            "an unfinished copy of one",
            "\"pqtls store restore --store 'postgres:",
        ] {
            assert!(told.stderr().contains(words), "{}", told.stderr());
        }
    }
    let other = run(&folder, &address, "restore 2.backup");
    assert_eq!(other.status(), 3, "{}", other.stderr());
    assert!(
        other.stderr().contains("restore the backup that was begun"),
        "{}",
        other.stderr()
    );
    run(&folder, &address, "restore 1.backup").ok();
    run(
        &folder,
        &address,
        "sign --key shop/files/app app --out 1.sig",
    )
    .ok();
    let checked = json(&folder, &address, "check");
    assert_eq!(checked["damaged"].as_array().unwrap().len(), 0);
}

const PASSWORD: &str = "hunter2-and-more";

#[test]
fn over_a_network_it_wants_tls_and_shows_no_password() {
    let folder = Folder::new();
    make_keks(&folder);
    for ca in ["ca", "other"] {
        folder
            .pqtls(&format!(
                "ca init --name Example --algorithm ECDSA-P256 --dir {ca}"
            ))
            .ok();
    }
    let policy = folder.read("ca/policy.toml");
    let policy = policy.replace("\"ML-DSA-87\"]", "\"ML-DSA-87\", \"ECDSA-P256\"]");
    folder.write("ca/policy.toml", policy);
    folder
        .pqtls("ca issue 127.0.0.1 --algorithm ECDSA-P256 --new-key server.key --out server.pem")
        .ok();
    let Some(cluster) = Cluster::new(&["fsync=off", "ssl=on"]) else {
        return;
    };
    private_file(
        &cluster.data().join("server.crt"),
        &folder.read("server.pem"),
    );
    private_file(
        &cluster.data().join("server.key"),
        &folder.read("server.key"),
    );
    let access = "local all all trust\nhostssl all keeper all scram-sha-256\n";
    private_file(&cluster.data().join("pg_hba.conf"), access);
    let (_process, port) = cluster.start_on_port();
    cluster.run(
        port,
        &format!(
            "CREATE ROLE keeper LOGIN PASSWORD '{PASSWORD}'; GRANT CREATE ON DATABASE postgres TO keeper"
        ),
    );
    let line = format!("127.0.0.1:*:postgres:keeper:{PASSWORD}\n");
    folder.write("passfile", format!("# of the store\n{line}"));
    folder.write("wrong", line.replace("hunter2", "hunter3"));
    folder.shell("chmod 600 passfile wrong").ok();
    let address = format!("postgres://keeper@127.0.0.1:{port}/postgres?{PATIENCE}");
    let with_roots = format!("{address}&sslrootcert=ca/root.pem");
    let good = format!("{with_roots}&passfile=passfile");
    run(&folder, &good, "init").ok();
    for environment in [
        format!("PGPASSWORD={PASSWORD}"),
        "PGPASSFILE=passfile".into(),
        "PGPASSFILE=passfile PGSSLROOTCERT=ca/root.pem".into(),
    ] {
        let store = match environment.contains("ROOTCERT") {
            true => &address,
            false => &with_roots,
        };
        folder
            .shell(&format!(
                "{environment} pqtls store list --store '{store}' --kek-file kek"
            ))
            .ok();
    }
    // What the address says comes first.
    folder
        .shell(&format!(
            "PGPASSWORD=hunter3 PGPASSFILE=wrong pqtls store list --store '{good}' --kek-file kek"
        ))
        .ok();
    for (store, status, words) in [
        (
            format!("{with_roots}&passfile=wrong"),
            3,
            "password authentication failed",
        ),
        (with_roots.clone(), 3, "password missing"),
        (format!("{with_roots}&passfile=missing"), 3, "missing: "),
        (
            format!("{address}&sslrootcert=other/root.pem&passfile=passfile"),
            3,
            "certificate",
        ),
        (
            format!("{address}&passfile=passfile"),
            2,
            "?sslrootcert=FILE",
        ),
        (format!("{good}&sslmode=require"), 2, "verify-full"),
        (format!("{good}&sslmode=disable"), 3, "no pg_hba.conf entry"),
        (format!("{good}&schema=A"), 2, "schema"),
        (
            format!("postgres://keeper:{PASSWORD}@127.0.0.1:{port}/postgres"),
            2,
            "change the password",
        ),
        (
            format!("{with_roots}&password={PASSWORD}"),
            2,
            "change the password",
        ),
        (
            format!("postgres://keeper:{PASSWORD}@127.0.0.1:{port}x/postgres"),
            2,
            "can't be read",
        ),
    ] {
        let refused = run(&folder, &store, "list");
        let said = refused.stderr();
        assert_eq!(refused.status(), status, "{said}");
        assert!(said.contains(words), "{said}");
        assert!(!said.contains("hunter"), "{said}");
    }
    folder.shell("chmod 644 passfile").ok();
    let refused = run(&folder, &good, "list");
    assert!(
        refused.stderr().contains("others than its owner"),
        "{}",
        refused.stderr()
    );
}
