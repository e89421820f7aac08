//! What a database is for.

/// What a program has in a database.
#[derive(Clone, Copy, Debug)]
pub struct Purpose {
    /// What it is, for people to read, such as `the store's PostgreSQL database`.
    pub what: &'static str,
    /// The schema, unless the options name another.
    pub schema: &'static str,
    /// The program, as the server lists it, unless the connection string names another.
    pub program: &'static str,
}
