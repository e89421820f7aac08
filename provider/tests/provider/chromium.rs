//! A browser's ClientHello.

/// A ClientHello of Chromium 156.0.8078.79 on Linux, captured on 127.0.0.1: started with
/// `--headless --no-sandbox --disable-quic --no-first-run --disable-background-networking`, for
/// `https://localhost.example`, which was mapped there. It sends `trust_anchors` without a flag.
pub(crate) fn hello() -> Vec<u8> {
    let digits: String = include_str!("chromium-156.hex")
        .split_whitespace()
        .collect();
    let byte = |at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(byte).collect()
}
