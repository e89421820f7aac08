//! What the files of the CPUs have in common: each of their methods is a line.

/// Methods that are one instruction each, `self` its first operand.
macro_rules! instructions {
    ($($method:ident => $($intrinsic:ident)::+($($operand:ident),*);)*) => {$(
        #[inline(always)]
        fn $method(self, $($operand: Self),*) -> Self {
            // SAFETY: `self` proves that the CPU has the instructions of its backend,
            // since whoever makes a vector shows the token.
            Self(unsafe { $($intrinsic)::+(self.0, $($operand.0),*) })
        }
    )*};
}
pub(super) use instructions;

/// A vector of `$lanes` elements in a register, and how it comes from and to memory.
macro_rules! vector {
    (
        $(#[$doc:meta])*
        $name:ident: $register:ty = [$element:ty; $lanes:literal] of $token:ty,
        |$x:ident| $splat:expr, $load:ident, $store:ident
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name($register);

        impl Vector for $name {
            type Token = $token;
            type Element = $element;
            type Array = [$element; $lanes];

            const LANES: usize = $lanes;

            #[inline(always)]
            fn splat(_: $token, $x: $element) -> Self {
                // SAFETY: the token proves that the CPU has the instruction.
                Self(unsafe { $splat })
            }

            #[inline(always)]
            fn load(_: $token, array: &[$element; $lanes]) -> Self {
                const { assert!(size_of::<[$element; $lanes]>() == size_of::<$register>()) }
                // SAFETY: the token proves that the CPU has the instruction, which
                // reads as many bytes as the array has, at any alignment.
                Self(unsafe { $load(array.as_ptr().cast()) })
            }

            #[inline(always)]
            fn store(self, array: &mut [$element; $lanes]) {
                // SAFETY: `self` proves that the CPU has the instruction, which writes
                // as many bytes as the array has, at any alignment.
                unsafe { $store(array.as_mut_ptr().cast(), self.0) }
            }

            #[inline(always)]
            fn chunks(elements: &[$element]) -> &[[$element; $lanes]] {
                elements.as_chunks().0
            }

            #[inline(always)]
            fn chunks_mut(elements: &mut [$element]) -> &mut [[$element; $lanes]] {
                elements.as_chunks_mut().0
            }
        }
    };
}
pub(super) use vector;

/// A number of which any bits are one.
#[cfg(target_arch = "x86_64")]
pub(super) trait Integer: Copy + Default {}

#[cfg(target_arch = "x86_64")]
macro_rules! integers {
    ($($integer:ty)*) => { $(impl Integer for $integer {})* };
}
#[cfg(target_arch = "x86_64")]
integers!(i16 i32 u32);
