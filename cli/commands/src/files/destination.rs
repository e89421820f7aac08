//! Writes outputs all or none: drafts get their names when all are complete, and replaced files come back after a
//! failure. It decides which files may be replaced, and which devices written to.

use core::fmt;
use std::ffi::OsString;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread;

use super::error::OutputError;
use super::loss::{self, Cas};
use super::source::Source;
use super::special::{self, Identity};
use super::unfinished::{Undo, Unfinished, put_back, set_aside};
use crate::kind;
use pq_keys::files::{Access, Draft, FileError, folder_of, sync_folder};

/// A file to write, or standard output, which is written `-`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Destination {
    StandardOutput,
    File(PathBuf),
}

impl From<OsString> for Destination {
    fn from(argument: OsString) -> Self {
        match argument == "-" {
            true => Self::StandardOutput,
            false => Self::File(argument.into()),
        }
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StandardOutput => f.write_str("standard output"),
            Self::File(path) => path.display().fmt(f),
        }
    }
}

/// The name of a file to write, where `-` is a name as any other.
#[derive(Clone, Debug)]
pub(crate) struct NameToWrite(PathBuf);

impl NameToWrite {
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn destination(&self) -> Destination {
        Destination::File(self.0.clone())
    }
}

impl From<OsString> for NameToWrite {
    fn from(argument: OsString) -> Self {
        Self(argument.into())
    }
}

/// Something to write, and where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output<'a> {
    pub(crate) to: &'a Destination,
    pub(crate) content: &'a [u8],
    pub(crate) access: Access,
    /// Not for terminals.
    pub(crate) is_binary: bool,
}

/// Refuses early what [`write()`] would refuse later, as far as that doesn't depend on the content, which may take long to
/// make. Returns the file that will be there, if there will be one.
pub(crate) fn check(
    destination: &Destination,
    force: bool,
) -> Result<Option<PathBuf>, OutputError> {
    check_in(destination, Access::Private, force, &mut Folders::default())
}

/// The same for what will have no secret: all that writing it would refuse.
pub(crate) fn check_public(
    destination: &Destination,
    force: bool,
) -> Result<Option<PathBuf>, OutputError> {
    check_in(destination, Access::Public, force, &mut Folders::default())
}

/// Refuses the place of a file that the command reads.
pub(crate) fn check_inputs(destination: &Destination) -> Result<(), OutputError> {
    match destination {
        Destination::StandardOutput => check_standard_output(),
        Destination::File(path) => loss::check_inputs(path),
    }
}

/// Refuses a place that no result may take, whatever it is.
pub(crate) fn check_place(destination: &Destination) -> Result<(), OutputError> {
    match destination {
        Destination::StandardOutput => check_standard_output(),
        Destination::File(path) => loss::check_place(path, &mut Cas::default()),
    }
}

/// Whether a result would take the place of a file that is read: it has its name, is a link that leads there, or another name
/// of it.
pub(crate) fn is_one_file(to: &Destination, from: &Source) -> bool {
    let to = match to {
        Destination::StandardOutput => Identity::of_standard_output(),
        Destination::File(to) => Identity::of(to),
    };
    to.is_some() && to == Identity::of_source(from)
}

/// Whether all that a file has is as it should be; not if it can't be read, or is longer than a command reads.
pub(crate) fn is_all(file: &Destination, is_right: impl FnOnce(&[u8]) -> bool) -> bool {
    let Destination::File(path) = file else {
        return false;
    };
    let read = Source::File(path.clone()).read(kind::LONGEST);
    read.is_ok_and(|bytes| is_right(&bytes))
}

fn check_standard_output() -> Result<(), OutputError> {
    match loss::is_standard_output() {
        true => Err(OutputError::OverInput("standard output".into())),
        false => Ok(()),
    }
}

/// The same for a new file, which replaces none.
pub(crate) fn check_new(path: &Path) -> Result<(), OutputError> {
    match check(&Destination::File(path.into()), false) {
        Err(
            OutputError::Exists(name)
            | OutputError::OverInput(name)
            | OutputError::Irreplaceable { file: name, .. },
        ) => Err(OutputError::Taken(name)),
        checked => checked.map(drop),
    }
}

/// The same as [`check_public`] for many.
pub(crate) fn check_all_public<'a>(
    destinations: impl IntoIterator<Item = &'a Destination>,
    force: bool,
) -> Result<(), OutputError> {
    let mut folders = Folders::default();
    let mut destinations = destinations.into_iter();
    destinations.try_for_each(|to| check_in(to, Access::Public, force, &mut folders).map(drop))
}

fn check_in(
    destination: &Destination,
    access: Access,
    force: bool,
    folders: &mut Folders,
) -> Result<Option<PathBuf>, OutputError> {
    let path = match destination {
        Destination::StandardOutput => return check_standard_output().map(|()| None),
        Destination::File(path) => path,
    };
    match Place::of(path, access, force, folders)? {
        Place::Free(path) | Place::Taken(path) => {
            let checked = special::check_writable(folder_of(&path));
            checked.map_err(|error| OutputError::at(&path, error))?;
            Ok(Some(path))
        }
        Place::Special(_) => Ok(None),
    }
}

/// Refuses bytes on a terminal, which would take them for commands.
pub(crate) fn check_binary(destination: &Destination) -> Result<(), OutputError> {
    match destination {
        Destination::StandardOutput if io::stdout().is_terminal() => {
            Err(OutputError::BinaryOnTerminal)
        }
        _ => Ok(()),
    }
}

/// Writes all of these or none. A file appears under its name when its content is complete; one that exists is
/// replaced only if forced to, keeps its owner, its group and who may read it, and is not replaced if a private key
/// would be lost. Devices and pipes are written to as they are, unless they may be another user's. All is
/// on the disk when this returns.
///
/// Files that are replaced stay beside the new ones under names that begin with `.pqtls-replaced-`, until all are written.
/// They get their names back if one can't be written, or if a signal ends this process before then. So `kill -9` or a loss
/// of power leaves each file old or new, and of each that is new already, the old one under such a name.
pub(crate) fn write(outputs: &[Output<'_>], force: bool) -> Result<(), OutputError> {
    write_if(outputs, force, || Ok(()))
}

/// The same, if `check` allows it once all is ready: nothing comes between it and the names but their files' renaming.
pub(crate) fn write_if<E: From<OutputError>>(
    outputs: &[Output<'_>],
    force: bool,
    check: impl FnOnce() -> Result<(), E>,
) -> Result<(), E> {
    let ready = |staged: &[Staged<'_>]| {
        sync(staged)?;
        check()
    };
    write_and(ready, sync_names, outputs, force)?.keep();
    Ok(())
}

/// The same, for files whose content the next step may make worthless.
pub(crate) fn write_for_now(outputs: &[Output<'_>], force: bool) -> Result<Written, OutputError> {
    write_and(sync, sync_names, outputs, force)
}

/// Files that were written. They go again, and those before come back, when this is dropped, and if a signal ends this
/// process.
#[must_use = "the files go again when this is dropped"]
pub(crate) struct Written {
    made: Vec<PathBuf>,
    unfinished: Vec<Unfinished>,
}

impl Written {
    /// From here on they stay. Returns those that were not there before.
    pub(crate) fn keep(self) -> Vec<PathBuf> {
        Unfinished::finish(self.unfinished);
        self.made
    }
}

/// Does the same with copies of what is safe elsewhere. It does not wait until the disk has new files: after a
/// loss of power they may be empty, and can be made again. It does wait for files that replace others.
pub(crate) fn write_copies(outputs: &[Output<'_>], force: bool) -> Result<(), OutputError> {
    let sync_replacing = |staged: &[Staged<'_>]| {
        let mut replacing = staged.iter().filter(|one| !one.is_new());
        replacing.try_for_each(Staged::sync)
    };
    write_and(sync_replacing, |_| Ok(()), outputs, force)?.keep();
    Ok(())
}

/// Writes texts that are part of this program: whoever reads them, perhaps `head`, may stop.
pub(crate) fn write_help(outputs: &[Output<'_>], force: bool) -> Result<(), OutputError> {
    match write(outputs, force) {
        Err(OutputError::StandardOutput { error }) if error.kind() == io::ErrorKind::BrokenPipe => {
            Ok(())
        }
        written => written,
    }
}

/// Writes all of these or none, and calls `sync` before they get their names, and `sync_names` with their paths when
/// they have them.
fn write_and<E: From<OutputError>>(
    sync: impl FnOnce(&[Staged<'_>]) -> Result<(), E>,
    sync_names: impl FnOnce(&[PathBuf]) -> Result<(), OutputError>,
    outputs: &[Output<'_>],
    force: bool,
) -> Result<Written, E> {
    let mut folders = Folders::default();
    let staged = outputs.iter();
    let staged = staged.map(|output| Staged::new(output, force, &mut folders));
    let staged = staged.collect::<Result<Vec<_>, _>>()?;
    let mut paths: Vec<&Path> = staged.iter().filter_map(Staged::path).collect();
    paths.sort_unstable_by_key(|path| path.as_os_str());
    if let Some(twice) = paths.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(OutputError::Twice(twice[0].display().to_string()).into());
    }
    sync(&staged)?;
    let paths: Vec<PathBuf> = paths.into_iter().map(Path::to_owned).collect();
    // What happened is undone if this returns early.
    let mut written = Written {
        made: Vec::new(),
        unfinished: Vec::new(),
    };
    for file in staged {
        let committed = file.commit(force)?;
        written.made.extend(committed.new);
        written.unfinished.extend(committed.unfinished);
    }
    sync_names(&paths)?;
    Ok(written)
}

/// Waits until the disk has the names of files, each folder's once.
fn sync_names(paths: &[PathBuf]) -> Result<(), OutputError> {
    let mut synced: Vec<&Path> = Vec::new();
    for path in paths {
        if let Some(folder) = path.parent()
            && !synced.contains(&folder)
        {
            sync_folder(folder).map_err(|error| OutputError::at(path, error))?;
            synced.push(folder);
        }
    }
    Ok(())
}

/// Removes files that were [kept](Written::keep), after a later step failed. Users are told the error of that step,
/// even if removing fails.
pub(crate) fn remove(made: Vec<PathBuf>) {
    for path in made {
        let _ = fs::remove_file(path);
    }
}

/// What is at a path before something is written there.
enum Place {
    /// Nothing.
    Free(PathBuf),
    /// A file that may be replaced; if the path was a link, the file that it leads to.
    Taken(PathBuf),
    /// A device or a pipe.
    Special(PathBuf),
}

impl Place {
    /// Where a result of this kind may be written.
    fn of(
        path: &Path,
        access: Access,
        force: bool,
        folders: &mut Folders,
    ) -> Result<Self, OutputError> {
        special::refuse_others(path)?;
        loss::check_place(path, &mut folders.cas)?;
        let metadata = match fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return match path.symlink_metadata() {
                    // It would take the link's place, and nothing would get to where the link leads.
                    Ok(_) => Err(OutputError::LeadsNowhere(path.display().to_string())),
                    Err(_) => Self::free(path, folders),
                };
            }
            Err(error) => return Err(OutputError::at(path, error)),
        };
        let name = || path.display().to_string();
        if metadata.is_dir() {
            Err(OutputError::Directory(name()))
        } else if !metadata.is_file() {
            Ok(Self::Special(path.into()))
        } else if let Some(what) =
            loss::irreplaceable(path).map_err(|error| OutputError::at(path, error))?
        {
            let file = name();
            Err(OutputError::Irreplaceable { file, what })
        } else if !force {
            Err(OutputError::Exists(name()))
        } else {
            if access == Access::Public {
                loss::check_content(path, None)?;
            }
            let path = fs::canonicalize(path).map_err(|error| OutputError::at(path, error))?;
            Ok(Self::Taken(path))
        }
    }

    fn free(path: &Path, folders: &mut Folders) -> Result<Self, OutputError> {
        let folder = folders.real(folder_of(path));
        let folder = folder.map_err(|error| OutputError::at(path, error))?;
        let written = path.as_os_str().as_encoded_bytes();
        match path.file_name() {
            Some(name) if written.ends_with(name.as_encoded_bytes()) => {
                Ok(Self::Free(folder.join(name)))
            }
            Some(_) => Err(OutputError::NamesFolder(path.display().to_string())),
            None => Err(OutputError::Directory(path.display().to_string())),
        }
    }
}

/// Paths of folders with links resolved. Files that are written together are mostly in one folder, for which
/// the file system is asked once.
#[derive(Default)]
pub(super) struct Folders {
    last: Option<(PathBuf, PathBuf)>,
    cas: Cas,
}

impl Folders {
    fn real(&mut self, folder: &Path) -> io::Result<&Path> {
        let is_last = |(last, _): &(PathBuf, PathBuf)| last.as_os_str() == folder.as_os_str();
        let last = match self.last.take().filter(is_last) {
            Some(last) => last,
            None => (folder.into(), fs::canonicalize(folder)?),
        };
        Ok(&self.last.insert(last).1)
    }
}

/// An output that is written except for its last step.
pub(super) enum Staged<'a> {
    StandardOutput(&'a [u8]),
    Special(PathBuf, &'a [u8]),
    File {
        file: Draft,
        path: PathBuf,
        is_new: bool,
        access: Access,
        unfinished: Unfinished,
    },
}

/// An output that was written.
pub(super) struct Committed {
    /// The path of the file, if there was none before.
    pub(super) new: Option<PathBuf>,
    /// Takes the file back, and brings back the one before.
    pub(super) unfinished: Option<Unfinished>,
}

impl Committed {
    /// What can't be taken back.
    const PASSED_ON: Self = Self {
        new: None,
        unfinished: None,
    };
}

impl<'a> Staged<'a> {
    pub(super) fn new(
        output: &Output<'a>,
        force: bool,
        folders: &mut Folders,
    ) -> Result<Self, OutputError> {
        if output.is_binary {
            check_binary(output.to)?;
        }
        let path = match output.to {
            Destination::StandardOutput => {
                check_standard_output()?;
                return Ok(Self::StandardOutput(output.content));
            }
            Destination::File(path) => path,
        };
        let (path, is_new) = match Place::of(path, output.access, force, folders)? {
            Place::Special(path) => return Ok(Self::Special(path, output.content)),
            Place::Free(path) => (path, true),
            Place::Taken(path) => (path, false),
        };
        match temporary(&path, output, is_new) {
            Ok((file, unfinished)) => Ok(Self::File {
                file,
                path,
                is_new,
                access: output.access,
                unfinished,
            }),
            Err(error) => Err(OutputError::at(&path, error)),
        }
    }

    pub(super) fn path(&self) -> Option<&Path> {
        match self {
            Self::File { path, .. } => Some(path),
            Self::StandardOutput(_) | Self::Special(..) => None,
        }
    }

    pub(super) fn is_new(&self) -> bool {
        matches!(self, Self::File { is_new: true, .. })
    }

    pub(super) fn sync(&self) -> Result<(), OutputError> {
        match self {
            Self::File { file, path, .. } => {
                let synced = file.sync();
                synced.map_err(|error| OutputError::at(path, error.into()))
            }
            Self::StandardOutput(_) | Self::Special(..) => Ok(()),
        }
    }

    pub(super) fn commit(self, force: bool) -> Result<Committed, OutputError> {
        match self {
            Self::StandardOutput(content) => {
                let mut out = io::stdout().lock();
                let written = out.write_all(content).and_then(|()| out.flush());
                written
                    .map(|()| Committed::PASSED_ON)
                    .map_err(|error| OutputError::StandardOutput { error })
            }
            Self::Special(path, content) => {
                let written = special::open(&path)?.write_all(content);
                written
                    .map(|()| Committed::PASSED_ON)
                    .map_err(|error| OutputError::at(&path, error))
            }
            Self::File {
                file,
                path,
                is_new,
                access,
                unfinished,
            } => {
                unfinished.proceed(|| give_name(file, &path, access, is_new, force))?;
                Ok(Committed {
                    new: is_new.then_some(path),
                    unfinished: Some(unfinished),
                })
            }
        }
    }
}

/// Gives a file its name, and says how to undo that.
fn give_name(
    file: Draft,
    path: &Path,
    access: Access,
    is_new: bool,
    force: bool,
) -> Result<Undo, OutputError> {
    let at = |error| OutputError::at(path, error);
    // A file may have come meanwhile, or may have gone.
    let is_there = force && path.symlink_metadata().is_ok_and(|one| one.is_file());
    let aside = match is_there {
        true => {
            loss::check_content(path, Some((file.path(), access)))?;
            Some(set_aside(path).map_err(at)?)
        }
        false => None,
    };
    let named = match force {
        true => file.replace(path),
        false => file.name(path),
    };
    match (named, aside) {
        (Ok(()), Some(aside)) => Ok(Undo::PutBack {
            aside,
            path: path.into(),
        }),
        (Ok(()), None) if is_new => Ok(Undo::RemoveFile(path.into())),
        (Ok(()), None) => Ok(Undo::Nothing),
        (Err(error), aside) => {
            if let Some(aside) = aside {
                // Users are told the error of replacing it.
                let _ = put_back(&aside, path);
            }
            Err(match error {
                FileError::Exists { path, .. } => OutputError::Exists(path.display().to_string()),
                error => at(error.into()),
            })
        }
    }
}

/// Writes the content to a file beside the path, which is removed unless it gets its name.
fn temporary(path: &Path, output: &Output<'_>, is_new: bool) -> io::Result<(Draft, Unfinished)> {
    let (mut file, unfinished) = Unfinished::begin(|| {
        let file = Draft::beside(path, output.access)?;
        let undo = Undo::RemoveFile(file.path().into());
        Ok((file, undo))
    })?;
    file.write_all(output.content)?;
    if !is_new {
        file.take_over(&fs::metadata(path)?)?;
    }
    Ok((file, unfinished))
}

/// Waits until the disk has all files. Otherwise a file could replace another one and be empty after a loss of
/// power.
///
/// Files that wait one after the other would each wait for the disk. For files that wait at the same time, a
/// file system does this once.
fn sync(staged: &[Staged<'_>]) -> Result<(), OutputError> {
    const AT_ONCE: usize = 16;
    if let [one] = staged {
        return one.sync();
    }
    let sync_each = |some: &[Staged<'_>]| some.iter().try_for_each(Staged::sync);
    thread::scope(|scope| {
        let share = staged.len().div_ceil(AT_ONCE).max(1);
        let mut threads = Vec::new();
        for some in staged.chunks(share) {
            let thread = thread::Builder::new().spawn_scoped(scope, move || sync_each(some));
            match thread {
                Ok(thread) => threads.push(thread),
                // Without a thread, it takes longer.
                Err(_) => sync_each(some)?,
            }
        }
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

#[cfg(test)]
mod tests {
    use core::slice;

    use pq_keys::files::steps;

    use super::super::unfinished;
    use super::*;

    fn output<'a>(to: &'a Destination) -> Output<'a> {
        Output {
            to,
            content: b"content",
            access: Access::Private,
            is_binary: false,
        }
    }

    #[test]
    fn names_are_on_the_disk_when_all_files_have_theirs() {
        let above = tempfile::tempdir().unwrap();
        let above = above.path().canonicalize().unwrap();
        let inner = above.join("inner");
        fs::create_dir(&inner).unwrap();
        let files = [above.join("a"), inner.join("b"), above.join("c")];
        let to = files.clone().map(Destination::File);
        for force in [false, true] {
            steps::take();
            write(&to.each_ref().map(output), force).unwrap();
            let steps = steps::take();
            let renames = files.clone().map(|file| ("rename", file));
            assert_eq!(steps[..3], renames);
            assert_eq!(
                steps[3..],
                [("sync", above.clone()), ("sync", inner.clone())]
            );
        }
        steps::take();
        write_copies(&to.each_ref().map(output), true).unwrap();
        // Of what is replaced, the new content is on the disk first.
        assert!(steps::take().iter().all(|(what, _)| *what != "sync"));
    }

    #[test]
    fn what_is_written_for_now_goes_unless_it_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().canonicalize().unwrap().join("a.key");
        let to = Destination::File(file.clone());
        let written = write_for_now(&[output(&to)], false).unwrap();
        assert!(file.exists() && unfinished::would_go(&file));
        drop(written);
        assert_eq!(names_in(folder.path()), Vec::<String>::new());
        let written = write_for_now(&[output(&to)], false).unwrap();
        assert_eq!(written.keep(), slice::from_ref(&file));
        assert!(file.exists() && !unfinished::would_go(&file));
    }

    #[test]
    fn what_is_not_allowed_at_the_end_replaces_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ca.crl");
        fs::write(&file, "newer").unwrap();
        let to = Destination::File(file.clone());
        let refuse = || Err(OutputError::BinaryOnTerminal);
        write_if(&[output(&to)], true, refuse).unwrap_err();
        assert_eq!(fs::read_to_string(&file).unwrap(), "newer");
        assert_eq!(names_in(folder.path()), ["ca.crl"]);
    }

    fn names_in(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().flatten();
        let mut names: Vec<String> = entries
            .map(|entry| entry.file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// A folder with a key and its certificate, of which `fail` makes the latter's replacement fail before any of them
    /// gets its name, and another file that is new. Returns what is left under the key's name, and all names.
    fn replace_and(
        fail: impl FnOnce(&Path) -> Result<(), OutputError>,
        fail_at_the_end: bool,
    ) -> (String, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let files = ["new", "tls.key", "tls.pem"].map(|name| folder.path().join(name));
        let [_, key, certificate] = &files;
        for file in [key, certificate] {
            fs::write(file, "old").unwrap();
        }
        let to = files.clone().map(Destination::File);
        let names = |paths: &[PathBuf]| match fail_at_the_end {
            true => Err(OutputError::at(&paths[0], io::Error::other("on purpose"))),
            false => Ok(()),
        };
        write_and(
            |_| fail(certificate),
            names,
            &to.each_ref().map(output),
            true,
        )
        .map(drop)
        .unwrap_err();
        let left = fs::read_to_string(key).unwrap();
        (left, names_in(folder.path()))
    }

    #[test]
    fn files_that_were_replaced_come_back_if_another_one_cant_be_written() {
        // The second file can't be replaced any more.
        let by_a_folder = |certificate: &Path| {
            fs::remove_file(certificate).unwrap();
            fs::create_dir(certificate).unwrap();
            Ok(())
        };
        let both = ["tls.key", "tls.pem"].map(String::from).to_vec();
        assert_eq!(
            replace_and(by_a_folder, false),
            ("old".into(), both.clone())
        );
        // All have their names, but the disk has not.
        assert_eq!(replace_and(|_| Ok(()), true), ("old".into(), both));
    }

    /// A crash can come while the names are made: the old files are beside the new ones then.
    #[test]
    fn files_that_are_replaced_are_kept_until_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let files = ["tls.key", "tls.pem"].map(|name| folder.path().join(name));
        for file in &files {
            fs::write(file, "old").unwrap();
        }
        let to = files.clone().map(Destination::File);
        let look = |_: &[PathBuf]| {
            let names = names_in(folder.path());
            let mut aside = names
                .iter()
                .filter(|name| name.starts_with(".pqtls-replaced-"));
            let is_old =
                |name: &&String| fs::read_to_string(folder.path().join(name)).unwrap() == "old";
            assert_eq!(
                (aside.clone().count(), aside.all(|name| is_old(&name))),
                (2, true)
            );
            assert_eq!(fs::read_to_string(&files[0]).unwrap(), "content");
            Ok(())
        };
        let written = write_and(sync, look, &to.each_ref().map(output), true);
        written.unwrap().keep();
        assert_eq!(names_in(folder.path()), ["tls.key", "tls.pem"]);
    }

    #[test]
    fn a_signal_removes_drafts_and_no_finished_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap().join("plaintext");
        let to = Destination::File(path.clone());
        let look = |staged: &[Staged<'_>]| {
            let [Staged::File { file, .. }] = staged else {
                panic!("one file");
            };
            assert!(unfinished::would_go(file.path()));
            Ok::<_, OutputError>(())
        };
        let names = |_: &[PathBuf]| {
            assert!(unfinished::would_go(&path));
            Ok(())
        };
        let written = write_and(look, names, &[output(&to)], false);
        written.unwrap().keep();
        assert!(!unfinished::would_go(&path));
    }
}
