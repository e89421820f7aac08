//! No two CAs below one get the same name, however many ask at once.

use std::fs;
use std::path::PathBuf;
use std::sync::Barrier;
use std::thread;

use pq_ca::folder::{
    Certified, Constraints, Folder, FolderError, Interruption, NewName, Role, SubordinatePlan,
};
use pq_x509::certificate::Certificate;
use pq_x509::request::CertificateRequest;

use crate::begun::{certified, successor};
use crate::subordinate::{authority, create_below, key, now, root_with, subordinate};

const TRIES: usize = 20;
const AT_ONCE: usize = 4;

/// Does the same at the same moment on threads, each of which opens the CA and its ledger itself, as processes do.
fn at_once<T: Send>(act: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let begin = Barrier::new(AT_ONCE);
    thread::scope(|scope| {
        let (begin, act) = (&begin, &act);
        let mut threads = Vec::new();
        for n in 0..AT_ONCE {
            threads.push(scope.spawn(move || {
                begin.wait();
                act(n)
            }));
        }
        let done = threads.into_iter().map(|thread| thread.join().unwrap());
        done.collect()
    })
}

fn certify(root: &Folder, name: &str) -> Result<Certificate, FolderError> {
    let request = CertificateRequest::builder().common_name(name).sign(&key());
    let request = request.unwrap().verify().unwrap();
    let certified = Certified {
        subject: request.subject(),
        key: &request,
        path_len: Some(0),
        validity: None,
        constraints: &Constraints::default(),
    };
    authority(root, Role::Root).certify(&certified, &[], "tests", now())
}

fn create_in(root: &Folder, path: PathBuf, name: &str) -> Result<Folder, FolderError> {
    let plan = SubordinatePlan {
        name: name.into(),
        ..subordinate(&[])
    };
    let (above, trusted) = (
        authority(root, Role::Root),
        root.certificate(Role::Root).unwrap(),
    );
    let (chain, stop) = ((&[][..], &trusted), Interruption::default());
    Folder::create_below(path, &plan, &above, chain, "tests", now(), &stop)
}

/// Of all who asked for one name, one got it, and the others were told that it is taken.
fn check_one<T>(done: &[Result<T, FolderError>]) {
    let refused = done.iter().filter_map(|one| one.as_ref().err());
    let mut count = 0;
    for refused in refused {
        assert!(matches!(refused, FolderError::NameTaken(_)), "{refused}");
        count += 1;
    }
    assert_eq!(count, AT_ONCE - 1);
}

#[test]
fn of_those_that_ask_for_one_name_at_once_one_is_certified() {
    let (_above, root) = root_with(true);
    for n in 0..TRIES {
        let done = at_once(|_| certify(&root, &format!("Other {n}")));
        check_one(&done);
        assert_eq!(certified(&root), n + 1);
    }
}

#[test]
fn of_those_that_ask_for_many_names_at_once_all_are_certified() {
    let (_above, root) = root_with(true);
    for done in at_once(|n| certify(&root, &format!("Other {n}"))) {
        done.unwrap();
    }
    assert_eq!(certified(&root), AT_ONCE);
}

#[test]
fn of_new_cas_of_one_name_one_is_made_and_of_the_others_nothing_is_left() {
    let (_above, root) = root_with(true);
    for n in 0..TRIES {
        let (name, place) = (
            format!("Below {n}"),
            root.path().with_file_name(format!("below-{n}")),
        );
        fs::create_dir(&place).unwrap();
        let done = at_once(|n| create_in(&root, place.join(n.to_string()), &name));
        check_one(&done);
        assert_eq!(fs::read_dir(&place).unwrap().count(), 1);
        assert_eq!(certified(&root), n + 1);
    }
}

/// A CA's own key, and that of another CA.
#[test]
fn a_key_that_follows_gets_no_name_that_another_ca_gets_meanwhile() {
    for is_below in [false, true] {
        for n in 0..TRIES / 4 {
            let (_above, root) = root_with(true);
            let folder = match is_below {
                true => create_below(&root, &subordinate(&[])).unwrap(),
                false => root.clone(),
            };
            let name = format!("Next {n}");
            let next = successor(NewName::Given(name.clone()));
            let done = at_once(|n| {
                let above = authority(&root, Role::Root);
                match n {
                    0 if is_below => folder
                        .rollover_below(&above, &[], &next, "tests", now())
                        .map(drop),
                    0 => folder.rollover(&above, &next, "tests", now()).map(drop),
                    _ => certify(&root, &name).map(drop),
                }
            });
            check_one(&done);
            let second = Role::Next(2);
            assert_eq!(folder.key_path(second).exists(), done[0].is_ok());
            assert!(folder.waiting().unwrap().is_empty());
            let request = folder.key_path(second).with_extension("csr");
            assert!(!request.exists());
        }
    }
}
