/** Names of the parameter sets of ML-KEM. Upper and lower case are the same. */
export type KemAlgorithm = "ML-KEM-512" | "ML-KEM-768" | "ML-KEM-1024";

/** Names of the parameter sets of ML-DSA and SLH-DSA. Upper and lower case are the same. */
export type SignatureAlgorithm =
  | "ML-DSA-44"
  | "ML-DSA-65"
  | "ML-DSA-87"
  | `SLH-DSA-${"SHA2" | "SHAKE"}-${128 | 192 | 256}${"s" | "f"}`;
