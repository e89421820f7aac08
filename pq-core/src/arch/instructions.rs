//! Macros that the files of the CPUs share: for their tokens, and for methods of one line each.

/// The token of CPUs that have these features, with their detection.
#[cfg(not(target_arch = "wasm32"))]
macro_rules! token {
    ($(#[$doc:meta])* $name:ident: $($feature:tt),+) => {
        cpufeatures::new!(detection, $($feature),+);

        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name(());

        impl $name {
            /// The token, if this machine and its operating system support the instructions.
            #[inline]
            pub fn detect() -> Option<Self> {
                detection::get().then_some(Self(()))
            }
        }

        impl Sealed for $name {}
    };
}
#[cfg(not(target_arch = "wasm32"))]
pub(super) use token;

/// A method that runs a kernel with these features, all of which the file's [`token!`] or the
/// target has. The kernel is compiled as a function of its own, so that a review finds its
/// instructions. `first` is the first expression of this function.
macro_rules! run_with {
    ($method:ident: $($feature:tt),+ $(; first $first:expr)?) => {
        #[inline]
        fn $method<K: Kernel<Self>>(self, kernel: K) -> K::Output {
            #[inline(never)]
            #[target_feature($(enable = $feature),+)]
            fn with_features<T, K: Kernel<T>>(token: T, kernel: K) -> K::Output {
                $($first;)?
                kernel.run(token)
            }
            // SAFETY: the token exists only on CPUs with all of these features.
            unsafe { with_features(self, kernel) }
        }
    };
}
pub(super) use run_with;

/// Methods of one instruction each, with `self` as its first operand.
macro_rules! instructions {
    ($($method:ident => $($intrinsic:ident)::+($($operand:ident),*);)*) => {$(
        #[inline(always)]
        fn $method(self, $($operand: Self),*) -> Self {
            // SAFETY: `self` proves that the CPU has the instructions of its backend, since a
            // vector can only be made with the token.
            Self(unsafe { $($intrinsic)::+(self.0, $($operand.0),*) })
        }
    )*};
}
pub(super) use instructions;

/// A vector of `$lanes` elements in a register, with its loads and stores.
macro_rules! vector {
    (
        $(#[$doc:meta])*
        $name:ident: $register:ty = [$element:ty; $lanes:literal] of $token:ty,
        |$x:ident| $splat:expr, $load:ident, $store:ident
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name($register);

        impl Sealed for $name {}

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

/// [`I32s`](super::I32s) with sums in two registers, using the file's `add_product` and
/// `montgomery_reduce`.
macro_rules! sums {
    (
        $(#[$doc:meta])*
        $name:ident: [$register:ty; 2] of $token:ty, $zero:expr
    ) => {
        impl I32s for $name {
            $(#[$doc])*
            type Sums = [$register; 2];

            #[inline(always)]
            fn zero_sums(_: $token) -> Self::Sums {
                // SAFETY: the token proves that the CPU has the instruction.
                [unsafe { $zero }; 2]
            }

            #[inline(always)]
            fn add_product(self, other: Self, sums: Self::Sums) -> Self::Sums {
                // SAFETY: `self` proves that the CPU has the instructions.
                unsafe { add_product(self.0, other.0, sums) }
            }

            #[inline(always)]
            fn montgomery_reduce(sums: Self::Sums, q_inverse: Self, q: Self) -> Self {
                // SAFETY: `q` proves that the CPU has the instructions.
                Self(unsafe { montgomery_reduce(sums, q_inverse.0, q.0) })
            }
        }
    };
}
pub(super) use sums;

/// The methods of [`Coefficients`](super::Coefficients) that change the order of lanes, using the
/// file's `transpose_blocks`, `deinterleave` and `interleave`. `$lanes_of_32_bits` is the number of
/// lanes in 32 bits.
#[cfg(not(target_arch = "aarch64"))]
macro_rules! lane_orders {
    ($lanes_of_32_bits:literal) => {
        #[inline(always)]
        fn transpose<const LEN: usize>(a: Self, b: Self) -> (Self, Self) {
            // SAFETY: `a` proves that the CPU has the instructions.
            let (a, b) = unsafe {
                match LEN / $lanes_of_32_bits {
                    1 => transpose_blocks::<32>(a.0, b.0),
                    2 => transpose_blocks::<64>(a.0, b.0),
                    4 => transpose_blocks::<128>(a.0, b.0),
                    _ => transpose_blocks::<256>(a.0, b.0),
                }
            };
            (Self(a), Self(b))
        }

        #[inline(always)]
        fn deinterleave(a: Self, b: Self) -> (Self, Self) {
            // SAFETY: `a` proves that the CPU has the instructions.
            let (even, odd) = unsafe { deinterleave(a.0, b.0) };
            (Self(even), Self(odd))
        }

        #[inline(always)]
        fn interleave(a: Self, b: Self) -> (Self, Self) {
            // SAFETY: `a` proves that the CPU has the instructions.
            let (low, high) = unsafe { interleave(a.0, b.0) };
            (Self(low), Self(high))
        }
    };
}
#[cfg(not(target_arch = "aarch64"))]
pub(super) use lane_orders;

/// The methods of [`Backend`](super::Backend) on numbers of D bits and on pairs of coefficients.
///
/// They use functions of the same names in the file; `append_below` uses `keep_below`, with as many
/// numbers as a register holds.
#[cfg(not(target_arch = "aarch64"))]
macro_rules! numbers {
    () => {
        #[inline(always)]
        fn pack<const D: usize>(self, numbers: &[u32; 16], bytes: &mut [u8]) {
            // SAFETY: the token proves that the CPU has the instructions.
            unsafe { pack::<D>(numbers, bytes) }
        }

        #[inline(always)]
        fn unpack<const D: usize>(self, bytes: &[u8]) -> [u32; 16] {
            // SAFETY: the token proves that the CPU has the instructions.
            unsafe { unpack::<D>(bytes) }
        }

        #[inline(always)]
        fn pack_i16s<const D: usize>(self, numbers: &[i16; 32], bytes: &mut [u8]) {
            // SAFETY: the token proves that the CPU has the instructions.
            unsafe { pack_i16s::<D>(numbers, bytes) }
        }

        #[inline(always)]
        fn bit_pair_differences(self, bytes: &[u8; 16], differences: &mut [i16; 32]) {
            // SAFETY: the token proves that the CPU has the instructions.
            unsafe { bit_pair_differences(bytes, differences) }
        }

        #[inline(always)]
        fn append_below<T: FromNumber>(
            self,
            numbers: &[u32; 16],
            limit: u32,
            output: &mut [T; 256],
            mut filled: usize,
        ) -> usize {
            for numbers in numbers.as_chunks().0 {
                // SAFETY: the token proves that the CPU has the instructions.
                let (below, count) = unsafe { keep_below(numbers, limit) };
                let elements = below.map(T::from_number);
                filled = super::packing::append(elements, count, output, filled);
            }
            filled
        }

        #[inline(always)]
        fn add_pair_products(self, a: &[i16; 32], b: &[i16; 32], sums: &mut [i32; 16]) {
            // SAFETY: the token proves that the CPU has the instructions.
            unsafe { add_pair_products(a, b, sums) }
        }

        #[inline(always)]
        fn halves(self, even: &[i32; 16], odd: &[i32; 16]) -> [[i16; 32]; 2] {
            // SAFETY: the token proves that the CPU has the instructions.
            unsafe { halves(even, odd) }
        }
    };
}
#[cfg(not(target_arch = "aarch64"))]
pub(super) use numbers;

/// `read` and `lanes`: load a register from memory and store it.
#[cfg(not(target_arch = "aarch64"))]
macro_rules! register {
    ($register:ty, $feature:literal, $load:ident, $store:ident) => {
        /// A vector from memory.
        #[inline]
        #[target_feature(enable = $feature)]
        fn read<T, const N: usize>(lanes: &[T; N]) -> $register {
            const { assert!(size_of::<[T; N]>() == size_of::<$register>()) }
            // SAFETY: the array has the size of the register.
            unsafe { $load(lanes.as_ptr().cast()) }
        }

        /// The lanes of a vector.
        #[inline]
        #[target_feature(enable = $feature)]
        fn lanes<T: Integer, const N: usize>(x: $register) -> [T; N] {
            const { assert!(size_of::<[T; N]>() == size_of::<$register>()) }
            let mut lanes = [T::default(); N];
            // SAFETY: the array has the size of the register, and takes any bits.
            unsafe { $store(lanes.as_mut_ptr().cast(), x) }
            lanes
        }
    };
}
#[cfg(not(target_arch = "aarch64"))]
pub(super) use register;

/// A number for which all bit patterns are valid.
#[cfg(not(target_arch = "aarch64"))]
pub(super) trait Integer: Copy + Default {}

#[cfg(not(target_arch = "aarch64"))]
macro_rules! integers {
    ($($integer:ty)*) => { $(impl Integer for $integer {})* };
}
#[cfg(not(target_arch = "aarch64"))]
integers!(u8 i16 i32 u32);
