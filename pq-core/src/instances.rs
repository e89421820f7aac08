//! Generic code that is compiled with this crate, not in the crates that use it.
//!
//! Rust compiles a generic function in each crate that calls it for a type, and the operations of a
//! parameter set on every backend are most of this crate. So each algorithm has a trait of its
//! operations, and every parameter set implements it with functions that are not generic: they are
//! compiled once, with this crate, which keeps the builds of all other crates short.
//!
//! SLH-DSA's functions are compiled this way only with the feature `slh-dsa-instances`; without it,
//! they are compiled where they are used. Its twelve sets take half as long to compile as
//! everything else together, and a build that does not use them need not wait for them.

/// Defines a trait of operations, and implements it for parameter sets.
///
/// Each function takes a [`Choice`](crate::arch::Choice) of a backend first, so that only this
/// crate can call it; it calls the expression after `=` with that backend and the other arguments.
/// The attribute before `impl` applies to each function: an `inline` function is compiled where it
/// is used. An attribute before a set applies to its implementation, for sets that need a feature.
macro_rules! instances {
    (
        $(#[$doc:meta])*
        pub trait $Instances:ident $functions:tt
        #[$inline:meta]
        impl for $($(#[$when:meta])? $Set:ident),+ $(,)?
    ) => {
        instances!(@trait [$(#[$doc])*] $Instances $functions);
        $(instances!(@impl #[$inline] $(#[$when])? $Instances for $Set $functions);)+
    };
    (@trait [$($doc:tt)*] $Instances:ident {
        $(
            fn $name:ident($($argument:ident: $type:ty),*)
                $(-> $output:ty)? = $operation:expr;
        )+
    }) => {
        $($doc)*
        pub trait $Instances: Sized {
            $(
                fn $name(backend: $crate::arch::Choice $(, $argument: $type)*)
                    $(-> $output)?
                where
                    Self: ParameterSet;
            )+
        }
    };
    (@impl #[$inline:meta] $(#[$when:meta])? $Instances:ident for $Set:ident {
        $(
            fn $name:ident($($argument:ident: $type:ty),*)
                $(-> $output:ty)? = $operation:expr;
        )+
    }) => {
        $(#[$when])?
        impl $Instances for $Set {
            $(
                #[$inline]
                fn $name(backend: $crate::arch::Choice $(, $argument: $type)*)
                    $(-> $output)?
                {
                    $crate::arch::dispatch!(backend, b => $operation(b $(, $argument)*))
                }
            )+
        }
    };
}
pub(crate) use instances;
