//! `openssl ocsp` and `openssl crl` as clients, if there is one that knows ML-DSA.
