//! Nothing: the module is that of the package `kryoptic`, which is built as a dependency.
