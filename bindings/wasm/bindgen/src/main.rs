//! `bindgen MODULE.wasm FOLDER NAME`: writes `NAME.js` and `NAME_bg.wasm` into the folder.

use std::{env, process::ExitCode};

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let [module, folder, name] = arguments.as_slice() else {
        eprintln!("usage: bindgen MODULE.wasm FOLDER NAME");
        return ExitCode::from(2);
    };
    let made = Bindgen::new()
        .input_path(module)
        .out_name(name)
        .web(true)
        .map(|bindgen| {
            bindgen
                .typescript(false)
                .remove_producers_section(true)
                .remove_name_section(true)
        })
        .and_then(|bindgen| bindgen.generate(folder));
    match made {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{module}: {error:#}");
            ExitCode::FAILURE
        }
    }
}
