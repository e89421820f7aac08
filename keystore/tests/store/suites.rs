//! Makes tests of requirements, for one kind of storage.

/// A test of each requirement in a module.
macro_rules! tests_of {
    ($module:ident, $place:ty: $($test:ident),+ $(,)?) => {
        mod $module {
            $(
                #[test]
                fn $test() {
                    if <$place as $crate::places::Place>::is_available() {
                        let place = <$place as $crate::places::Place>::new();
                        $crate::$module::$test(&place);
                    }
                }
            )+
        }
    };
}
pub(crate) use tests_of;
