//! Values of options that have names, which a shell's completion knows, such as profiles.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command, Error};

/// Reads a value by its name. `read` knows more spellings than the names, and says what is wrong with others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Named<T> {
    pub(crate) names: fn() -> Vec<&'static str>,
    pub(crate) read: fn(&str) -> Result<T, String>,
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for Named<T> {
    type Value = T;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<T, Error> {
        let name = value.to_string_lossy();
        (self.read)(&name).map_err(|problem| {
            let argument = argument.map_or_else(String::new, Arg::to_string);
            let text = format!("invalid value '{name}' for '{argument}': {problem}\n");
            Error::raw(ErrorKind::ValueValidation, text).with_cmd(command)
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.names)().into_iter().map(PossibleValue::new)))
    }
}
