//! PostgreSQL servers for tests, each with data of its own in a temporary folder, on a Unix socket there; and a pooler before
//! one.
#![forbid(unsafe_code)]
#![cfg(unix)]

extern crate alloc;

mod proxy;

use core::net::Ipv4Addr;
use core::sync::atomic::{AtomicU32, Ordering};
use core::time::Duration;
use std::fs::{self, File};
use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::Instant;

use tempfile::TempDir;
use testing::skipped::skip;

pub use self::proxy::{Cut, Proxy};

/// How long to wait for what has to happen.
pub const PATIENCE: Duration = Duration::from_secs(120);
/// The account that runs servers if the tests have all rights: PostgreSQL refuses these.
const ACCOUNT: &str = "postgres";

/// The folder of PostgreSQL's programs: Debian's newest, or one in `PATH`.
fn programs() -> Option<PathBuf> {
    let mut debian: Vec<(u32, PathBuf)> = Vec::new();
    if let Ok(versions) = fs::read_dir("/usr/lib/postgresql") {
        for version in versions.flatten() {
            if let Ok(number) = version.file_name().to_string_lossy().parse() {
                debian.push((number, version.path().join("bin")));
            }
        }
    }
    debian.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = debian.into_iter().rev().map(|(_, path)| path);
    let has_both = |folder: &PathBuf| {
        ["initdb", "postgres"]
            .iter()
            .all(|name| folder.join(name).is_file())
    };
    folders
        .find(has_both)
        .or_else(|| std::env::split_paths(&path).find(has_both))
}

/// What `id` says of an account.
fn id(option: &str, account: Option<&str>) -> u32 {
    let output = Command::new("id")
        .arg(option)
        .args(account)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.trim().parse().unwrap()
}

fn has_all_rights() -> bool {
    id("-u", None) == 0
}

/// A program that runs with few rights.
pub fn command(program: impl AsRef<Path>) -> Command {
    let program = program.as_ref();
    if !has_all_rights() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command
        .args([
            format!("--reuid={ACCOUNT}"),
            format!("--regid={ACCOUNT}"),
            "--clear-groups".into(),
        ])
        .arg(program);
    command
}

/// A temporary folder that servers can write to.
pub fn folder() -> TempDir {
    let folder = tempfile::Builder::new().prefix("pqk").tempdir().unwrap();
    if has_all_rights() {
        let (user, group) = (id("-u", Some(ACCOUNT)), id("-g", Some(ACCOUNT)));
        chown(folder.path(), Some(user), Some(group)).unwrap();
    }
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

/// A file that servers can read, and no one else.
pub fn private_file(path: &Path, content: &str) {
    fs::write(path, content).unwrap();
    if has_all_rights() {
        chown(
            path,
            Some(id("-u", Some(ACCOUNT))),
            Some(id("-g", Some(ACCOUNT))),
        )
        .unwrap();
    }
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

/// A server's data and how it is started.
pub struct Cluster {
    programs: PathBuf,
    folder: TempDir,
    settings: Vec<String>,
}

impl Cluster {
    /// Data of a new server. `None` if there is no PostgreSQL, which is said.
    pub fn new(settings: &[&str]) -> Option<Self> {
        let Some(programs) = programs() else {
            skip("there is no PostgreSQL: Debian's package postgresql has it");
            return None;
        };
        let folder = folder();
        let made = command(programs.join("initdb"))
            .args([
                "-N",
                "-A",
                "trust",
                "-U",
                "postgres",
                "-E",
                "UTF8",
                "--locale=C",
                "-D",
            ])
            .arg(folder.path().join("data"))
            .output()
            .unwrap();
        assert!(
            made.status.success(),
            "{}",
            String::from_utf8_lossy(&made.stderr)
        );
        let settings = settings.iter().map(|&setting| setting.into()).collect();
        Some(Self {
            programs,
            folder,
            settings,
        })
    }

    /// The folder of its socket.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Its data, with its configuration.
    pub fn data(&self) -> PathBuf {
        self.folder().join("data")
    }

    /// A connection string for its socket.
    pub fn address(&self) -> String {
        format!(
            "host={} user=postgres dbname=postgres",
            self.folder().display()
        )
    }

    /// Runs statements as the superuser.
    pub fn run(&self, port: u16, statements: &str) {
        let output = Command::new(self.programs.join("psql"))
            .args([
                "-X",
                "-v",
                "ON_ERROR_STOP=1",
                "-U",
                "postgres",
                "-c",
                statements,
            ])
            .args(["-p", &port.to_string(), "-h"])
            .arg(self.folder())
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }

    fn command(&self) -> Command {
        let mut command = command(self.programs.join("postgres"));
        command
            .arg("-D")
            .arg(self.data())
            .arg("-k")
            .arg(self.folder());
        // A restart need not write each file back first.
        for setting in [
            "listen_addresses=",
            "recovery_init_sync_method=syncfs",
            "max_connections=200",
        ] {
            command.args(["-c", setting]);
        }
        for setting in &self.settings {
            command.args(["-c", setting]);
        }
        command
    }

    fn log(&self) -> File {
        let mut log = File::options();
        log.create(true)
            .append(true)
            .open(self.folder().join("log"))
            .unwrap()
    }

    /// Starts it, and waits until it can be asked.
    pub fn start(&self) -> Process {
        let started = Instant::now();
        loop {
            // If it was killed, children of it may live yet, and then it doesn't start.
            if let Some(process) = self.try_start(started, &[]) {
                return process;
            }
            sleep(Duration::from_millis(20));
        }
    }

    /// Starts it so that it also listens on a port of 127.0.0.1.
    pub fn start_on_port(&self) -> (Process, u16) {
        let started = Instant::now();
        loop {
            let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
            let port = free.local_addr().unwrap().port();
            drop(free);
            // Somebody else may have taken the port.
            let settings = ["listen_addresses=127.0.0.1".into(), format!("port={port}")];
            if let Some(process) = self.try_start(started, &settings) {
                return (process, port);
            }
        }
    }

    /// Starts it once. `None` if it ends again.
    fn try_start(&self, started: Instant, settings: &[String]) -> Option<Process> {
        let mut command = self.command();
        for setting in settings {
            command.args(["-c", setting]);
        }
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(self.log());
        let mut process = Process::of(&mut command);
        while process.is_running() {
            if self.is_ready(&process) {
                return Some(process);
            }
            self.check_patience(started);
            sleep(Duration::from_millis(5));
        }
        self.check_patience(started);
        None
    }

    fn check_patience(&self, started: Instant) {
        if started.elapsed() > PATIENCE {
            let log = fs::read_to_string(self.folder().join("log")).unwrap_or_default();
            let last: Vec<&str> = log.lines().rev().take(10).collect();
            panic!("PostgreSQL doesn't start: {last:#?}");
        }
    }

    /// Whether this process has noted that it takes connections.
    fn is_ready(&self, process: &Process) -> bool {
        let noted = fs::read_to_string(self.data().join("postmaster.pid"));
        let noted = noted.unwrap_or_default();
        let mut lines = noted.lines();
        let is_of_it = lines.next() == Some(&process.0.id().to_string());
        is_of_it && lines.last().map(str::trim) == Some("ready")
    }
}

/// A child that is killed when it is dropped, and waited for.
pub struct Process(Child);

impl Process {
    /// Starts it.
    pub fn of(command: &mut Command) -> Self {
        Self(command.spawn().unwrap())
    }

    /// Whether it has not ended.
    pub fn is_running(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }

    /// As `kill -9`.
    pub fn kill(mut self) {
        self.end();
    }

    fn end(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

/// One server for all tests of this process that don't stop theirs. A shell stops it when this process has ended, however
/// it does, and removes its data.
pub fn shared() -> Option<&'static Cluster> {
    static SHARED: OnceLock<Option<(Cluster, Child)>> = OnceLock::new();
    const SCRIPT: &str = "trap '' INT
        \"$@\" & server=$!
        cat > /dev/null
        kill -INT $server
        wait $server
        rm -rf \"$FOLDER\"";
    let shared = SHARED.get_or_init(|| {
        let cluster = Cluster::new(&["fsync=off", "synchronous_commit=off"])?;
        let server = cluster.command();
        let child = Command::new("sh")
            .args(["-c", SCRIPT, "sh"])
            .arg(server.get_program())
            .args(server.get_args())
            .env("FOLDER", cluster.folder())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(cluster.log())
            .spawn()
            .unwrap();
        Some((cluster, child))
    });
    shared.as_ref().map(|(cluster, _)| cluster)
}

/// A name that no other test of this process has.
pub fn new_schema() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("s{}", COUNT.fetch_add(1, Ordering::Relaxed))
}

/// A PgBouncer in transaction mode with few connections to a server, on a socket in the server's folder.
pub struct Pooler {
    folder: TempDir,
}

impl Pooler {
    /// `None` if there is no PgBouncer, which is said.
    pub fn new(server: &Path) -> Option<Self> {
        let found = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"];
        if !found.iter().any(|path| Path::new(path).is_file()) {
            skip("there is no PgBouncer: Debian's package pgbouncer has it");
            return None;
        }
        let folder = folder();
        let mut file = File::create(folder.path().join("ini")).unwrap();
        let (own, server) = (folder.path().display(), server.display());
        write!(
            file,
            "[databases]
            postgres = host={server} port=5432 user=postgres dbname=postgres
            [pgbouncer]
            listen_port = 5432
            unix_socket_dir = {own}
            auth_type = any
            pool_mode = transaction
            default_pool_size = 3
            max_client_conn = 200
            server_login_retry = 0.1
            logfile = {own}/log
            "
        )
        .unwrap();
        Some(Self { folder })
    }

    /// A connection string for its socket.
    pub fn address(&self) -> String {
        format!(
            "host={} user=postgres dbname=postgres",
            self.folder.path().display()
        )
    }

    /// Starts it; it answers soon.
    pub fn start(&self) -> Process {
        let program = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"];
        let program = program
            .iter()
            .find(|path| Path::new(path).is_file())
            .unwrap();
        // It doesn't start while the socket of one that was killed is there.
        let _ = fs::remove_file(self.folder.path().join(".s.PGSQL.5432"));
        Process::of(
            command(program)
                .arg("-q")
                .arg(self.folder.path().join("ini"))
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null()),
        )
    }
}
