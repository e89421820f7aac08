//! Handshakes with the program, of many clients at a time.

// Tests run in the order of their names. This one is early, since it waits for a limit of the server while
// others run.
mod soak;
