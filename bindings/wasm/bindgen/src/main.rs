//! `bindgen MODULE.wasm FOLDER NAME`: writes `NAME.js` and `NAME_bg.wasm` into the folder.
//!
//! wasm-bindgen's code has one instance of the module forever. This program adds three things. `forget()` gives up an
//! instance that failed, so that another can be made. The garbage collector's calls go to the instance that the object
//! belongs to, or to none. And `EXPORTS` has the names that a module must export.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

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
        .and_then(|bindgen| bindgen.generate(folder))
        .map_err(|error| format!("{error:#}"))
        .and_then(|()| complete(&Path::new(folder).join(format!("{name}.js"))));
    match made {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{module}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn complete(file: &Path) -> Result<(), String> {
    let mut text = fs::read_to_string(file).map_err(|error| error.to_string())?;
    let names: BTreeSet<String> = text
        .split("wasm.")
        .skip(1)
        .map(|rest| rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'))
        .filter_map(|mut parts| parts.next())
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect();
    let names = Vec::from_iter(names);

    let classes = text.matches("new FinalizationRegistry(").count();
    // once for each class; otherwise this would be for another version of wasm-bindgen
    for (from, to) in [
        ("(ptr => wasm.", "(({ of, ptr }) => of === wasm && of."),
        (
            ".register(obj, obj.__wbg_ptr, obj)",
            ".register(obj, { of: wasm, ptr: obj.__wbg_ptr }, obj)",
        ),
    ] {
        if classes == 0 || text.matches(from).count() != classes {
            return Err(format!(
                "wasm-bindgen does not write {from} once for each class"
            ));
        }
        text = text.replace(from, to);
    }
    if !text.contains("let __wbg_init_promise;")
        || !text.contains("let wasmModule, wasmInstance, wasm;")
    {
        return Err(
            "wasm-bindgen does not keep the instance in the variables that forget() resets".into(),
        );
    }
    text += &format!(
        "\nexport const EXPORTS = {names:?};\n\
         export const forget = () => {{\n    \
             wasmModule = wasmInstance = wasm = __wbg_init_promise = undefined;\n    \
             cachedDataViewMemory0 = cachedUint8ArrayMemory0 = null;\n\
         }};\n"
    );
    fs::write(file, text).map_err(|error| error.to_string())
}
