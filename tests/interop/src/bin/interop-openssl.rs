//! Prints the folder of an OpenSSL 3.5 with its library, for programs in C; builds OpenSSL if no earlier run did so.

use std::process::ExitCode;

use interop::openssl::Openssl;

fn main() -> ExitCode {
    match Openssl::folder() {
        Ok(folder) => {
            println!("{}", folder.display());
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}
