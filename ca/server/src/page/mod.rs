//! The page for people: what this CA is, and how to trust it. It has no script, and what others chose is escaped.

// This room uses `http`.

mod html;
mod text;

pub(crate) use self::text::{Page, PageFacts, page};
