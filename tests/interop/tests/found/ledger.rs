//! Journals with damage, and clocks that run ahead.
