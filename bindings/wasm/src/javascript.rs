//! JavaScript's own classes, as far as `keys` and `failure` need them. (The crate js-sys declares them all, which takes
//! longer to compile than everything else between pq-keys and JavaScript.)

use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    pub type Uint8Array;

    /// Copies the bytes, from the module's memory to that of JavaScript.
    #[wasm_bindgen(constructor)]
    pub fn new(bytes: &[u8]) -> Uint8Array;

    pub type Array;

    #[wasm_bindgen(static_method_of = Array, js_name = of)]
    pub fn pair(first: &Uint8Array, second: &Uint8Array) -> Array;

    pub type Error;

    #[wasm_bindgen(constructor)]
    pub fn new(message: &str) -> Error;

    #[wasm_bindgen(method, setter)]
    pub fn set_name(this: &Error, name: &str);
}
