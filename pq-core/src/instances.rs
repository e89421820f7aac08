//! Generic code that is compiled here and not where it is used.
//!
//! Rust compiles a generic function in each crate that calls it for a type, and the operations
//! of a parameter set on every backend are most of this crate. So each algorithm has a trait
//! of its operations, which every parameter set implements by functions that are not
//! generic: they are compiled once, with this crate, and everybody else's build is short.
//!
//! SLH-DSA's functions are compiled so with the feature `slh-dsa-instances` only, and else where
//! they are used: its twelve sets take half as long to compile as everything else together, and
//! whoever does not use it need not wait for them.

/// Defines a trait of operations, and implements it for parameter sets.
///
/// Each function takes a [`Choice`](crate::arch::Choice) of a backend first, which keeps it to
/// this crate, and what it is set to is called with that backend and the other arguments. The
/// attribute before `impl` is that of each function: one that is `inline` is compiled where it is
/// used. One before a set is that of its implementation, for sets that a feature brings.
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
