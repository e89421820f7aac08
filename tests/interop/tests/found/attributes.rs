//! CMS messages whose attributes pose as content, and messages that cost much memory or time.
