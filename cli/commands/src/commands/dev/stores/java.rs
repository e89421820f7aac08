//! Removes roots from Java's key store on Debian, which the system store's own program fills but doesn't clean.

use std::path::PathBuf;

use super::action::{Action, output_of};

/// Java's roots, which Debian's store copies from its own. It removes no root whose file is gone.
pub(super) struct KeyStore {
    file: PathBuf,
}

const KEYTOOL: &str = "keytool";

impl KeyStore {
    pub(super) fn new(file: PathBuf) -> Self {
        Self { file }
    }

    /// The action that removes a root, if it is there.
    pub(super) fn removal(&self, label: &str) -> Option<Action> {
        let arguments = |command: &str| {
            let file = self.file.display();
            [
                command,
                "-keystore",
                &file.to_string(),
                // Every such store has this password: nothing in it is secret.
                "-storepass",
                "changeit",
                "-alias",
                &format!("debian:{label}.pem"),
            ]
            .map(String::from)
        };
        let is_there = self.file.is_file() && output_of(KEYTOOL, &arguments("-list")).is_ok();
        is_there.then(|| Action::run(KEYTOOL, arguments("-delete")))
    }
}
