// This room uses `summary`.

//! The answers to HTTP requests: the page that shows what was negotiated, and `/bytes`, which measures throughput.

mod answer;
mod media_type;
mod zeros;

pub(crate) use answer::{Page, answer};
