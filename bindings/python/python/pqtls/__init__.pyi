from collections.abc import Iterable, Sequence
from datetime import datetime
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from os import PathLike
from typing import Final, Literal, NoReturn, TypeAlias, final

from typing_extensions import Buffer

from ._errors import (
    CertificateError as CertificateError,
    Error as Error,
    InvalidKey as InvalidKey,
    InvalidSignature as InvalidSignature,
    IssueError as IssueError,
    OperationError as OperationError,
    ProtectionError as ProtectionError,
    RandomnessError as RandomnessError,
    RequestError as RequestError,
    RevocationListError as RevocationListError,
    UnknownAlgorithm as UnknownAlgorithm,
    ValidationError as ValidationError,
)
from ._names import (
    KEM_ALGORITHMS as KEM_ALGORITHMS,
    PRE_HASHES as PRE_HASHES,
    SIGNATURE_ALGORITHMS as SIGNATURE_ALGORITHMS,
    KemAlgorithm as KemAlgorithm,
    PreHash as PreHash,
    SignatureAlgorithm as SignatureAlgorithm,
)

__version__: Final[str]

# These names are only for annotations: they do not exist at run time.
_Form: TypeAlias = Literal["seed", "expanded", "both"]
_Purpose: TypeAlias = Literal["server_auth", "client_auth", "documents"]
_KeyUsage: TypeAlias = Literal[
    "digitalSignature",
    "nonRepudiation",
    "keyEncipherment",
    "dataEncipherment",
    "keyAgreement",
    "keyCertSign",
    "cRLSign",
    "encipherOnly",
    "decipherOnly",
]
_Reason: TypeAlias = Literal[
    "unspecified",
    "keyCompromise",
    "cACompromise",
    "affiliationChanged",
    "superseded",
    "cessationOfOperation",
    "certificateHold",
    "removeFromCRL",
    "privilegeWithdrawn",
    "aACompromise",
]
_Path: TypeAlias = str | PathLike[str]
_Text: TypeAlias = str | Buffer
_Address: TypeAlias = IPv4Address | IPv6Address
_Network: TypeAlias = IPv4Network | IPv6Network

__all__ = [
    "KEM_ALGORITHMS",
    "PRE_HASHES",
    "SIGNATURE_ALGORITHMS",
    "Certificate",
    "CertificateBuilder",
    "CertificateError",
    "CertificateRequest",
    "CertificateRevocationList",
    "CertificateRevocationListBuilder",
    "ChainValidator",
    "DecapsulationKey",
    "EncapsulationKey",
    "Error",
    "Extension",
    "Finding",
    "HashedMessage",
    "InvalidKey",
    "InvalidSignature",
    "IssueError",
    "Issuer",
    "KemAlgorithm",
    "MessageHasher",
    "OperationError",
    "PreHash",
    "ProtectionError",
    "RandomnessError",
    "RequestBuilder",
    "RequestError",
    "RevocationListError",
    "RevokedCertificate",
    "SignatureAlgorithm",
    "SigningKey",
    "UnknownAlgorithm",
    "ValidationError",
    "VerifiedRequest",
    "VerifyingKey",
    "__version__",
    "load_private_key",
    "load_public_key",
    "verify_many",
]

@final
class SigningKey:
    """A private key that signs, of any parameter set of ML-DSA or SLH-DSA. It never changes, and threads may share
    it.

    >>> key = pqtls.SigningKey.generate("ML-DSA-65")
    >>> signature = key.sign(b"message", context=b"backups")
    >>> key.verifying_key.verify(b"message", signature, context=b"backups")
    >>> pqtls.SigningKey.from_pem(key.to_pem(passphrase="secret"), "secret") == key
    True
    """
    @staticmethod
    def generate(algorithm: SignatureAlgorithm) -> SigningKey:
        """Makes a new key from the operating system's randomness. With the s sets of SLH-DSA it takes up to a
        second.
        """
    @staticmethod
    def from_seed(algorithm: SignatureAlgorithm, seed: Buffer) -> SigningKey:
        """Expands a key from its seed: 32 bytes for ML-DSA (ξ of FIPS 204), 64 for ML-KEM (d ‖ z of FIPS 203), three
        times n for SLH-DSA (SK.seed ‖ SK.prf ‖ PK.seed of FIPS 205).
        """
    @staticmethod
    def from_expanded(algorithm: SignatureAlgorithm, data: Buffer) -> SigningKey:
        """Reads a key from its expanded form, as `to_expanded` gives it."""
    @staticmethod
    def from_pem(data: _Text, passphrase: _Text | None = None) -> SigningKey:
        """Reads the first PKCS#8 private key in a PEM text, a `str` or bytes, in any of the forms of RFC 9881, RFC
        9935 and RFC 9909. With a passphrase, a `str` or bytes, it reads the first encrypted one.
        """
    @staticmethod
    def from_der(data: Buffer, passphrase: _Text | None = None) -> SigningKey:
        """Reads a PKCS#8 private key from DER; with a passphrase, an encrypted one."""
    @staticmethod
    def load(path: _Path, passphrase: _Text | None = None) -> SigningKey:
        """Reads a private key from a file, PEM or DER."""
    def sign(
        self,
        message: Buffer,
        *,
        context: Buffer | None = None,
        pre_hash: PreHash | None = None,
        deterministic: bool = False,
    ) -> bytes:
        """Signs a message: hedged, unless `deterministic` is set, and with a context of at most 255 bytes. With
        `pre_hash`, the name of a hash function, it signs a hash of the message (HashML-DSA, HashSLH-DSA). The
        defaults are those of certificates and TLS.
        """
    def sign_hashed(self, message: HashedMessage, *, deterministic: bool = False) -> bytes:
        """Signs what `MessageHasher.finish` gave."""
    def sign_mu(self, mu: Buffer, *, deterministic: bool = False) -> bytes:
        """Signs µ of 64 bytes, which was computed elsewhere (external µ, FIPS 204, section 6.2). Only for ML-DSA."""
    def hasher(self, *, context: Buffer | None = None, pre_hash: PreHash | None = None) -> MessageHasher:
        """Begins to hash a message that comes in pieces. Pure SLH-DSA can't sign such a message: it needs a
        pre-hash.
        """
    def check(self) -> None:
        """Checks that the public part of an SLH-DSA key belongs to it. Reading a key does not check this, because it
        takes as long as making the key. A key that fails makes no signatures either.
        """
    @property
    def is_pre_hash(self) -> bool:
        """Whether the key is only for hashes of messages, as the file of an SLH-DSA key can say (HashSLH-DSA, RFC
        9909).
        """
    @property
    def verifying_key(self) -> VerifyingKey:
        """The public key that verifies this key's signatures."""
    def to_pem(self, *, form: _Form | None = None, passphrase: _Text | None = None) -> str:
        """Writes the key as PKCS#8 PEM: its seed, or the one form of SLH-DSA, unless `form` asks for `"seed"`,
        `"expanded"` or `"both"`. With a passphrase, a `str` or bytes, the key is encrypted with AES-256 under a key
        that PBKDF2 derives from it, and any change of the text is noticed. Most programs read the seed; Java without
        BouncyCastle reads `form="expanded"` alone.
        """
    def to_der(self, *, form: _Form | None = None, passphrase: _Text | None = None) -> bytes:
        """Writes the key as PKCS#8 DER, as `to_pem` does."""
    def save(
        self,
        path: _Path,
        *,
        form: _Form | None = None,
        passphrase: _Text | None = None,
        overwrite: bool = False,
    ) -> None:
        """Writes the key as PEM to a new file that only its owner can read. With `overwrite`, it replaces an
        existing file.
        """
    def to_seed(self) -> bytes | None:
        """The seed, or None if the key was read from its expanded form. Whoever has it has the key."""
    def to_expanded(self) -> bytes:
        """The expanded key in the encoding of FIPS 203, FIPS 204 or FIPS 205. Whoever has it has the key."""
    @property
    def algorithm(self) -> SignatureAlgorithm:
        """The parameter set, such as `"ML-DSA-65"`."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> NoReturn: ...
    def __copy__(self) -> SigningKey: ...
    def __deepcopy__(self, _memo: object, /) -> SigningKey: ...

@final
class VerifyingKey:
    """A public key that verifies signatures, of any parameter set of ML-DSA or SLH-DSA. It never changes, and
    threads may share it.

    >>> key = pqtls.SigningKey.generate("ML-DSA-65")
    >>> key.verifying_key.verify(b"message", key.sign(b"another"))
    Traceback (most recent call last):
        ...
    pqtls.InvalidSignature: invalid ML-DSA-65 signature
    """
    @staticmethod
    def from_pem(data: _Text) -> VerifyingKey:
        """Reads the first public key (SubjectPublicKeyInfo) in a PEM text, a `str` or bytes."""
    @staticmethod
    def from_der(data: Buffer) -> VerifyingKey:
        """Reads the DER of a SubjectPublicKeyInfo."""
    @staticmethod
    def load(path: _Path) -> VerifyingKey:
        """Reads a public key from a file, PEM or DER."""
    @staticmethod
    def from_bytes(algorithm: SignatureAlgorithm, data: Buffer) -> VerifyingKey:
        """Reads the raw key of FIPS 203, FIPS 204 or FIPS 205."""
    def verify(
        self,
        message: Buffer,
        signature: Buffer,
        *,
        context: Buffer | None = None,
        pre_hash: PreHash | None = None,
    ) -> None:
        """Checks a signature, with the context and the pre-hash that it was made with. It returns nothing, or raises
        `InvalidSignature`.
        """
    def verify_hashed(self, message: HashedMessage, signature: Buffer) -> None:
        """Checks a signature of what `MessageHasher.finish` gave."""
    def verify_mu(self, mu: Buffer, signature: Buffer) -> None:
        """Checks a signature of µ of 64 bytes, which was computed elsewhere. Only for ML-DSA."""
    def hasher(self, *, context: Buffer | None = None, pre_hash: PreHash | None = None) -> MessageHasher:
        """Begins to hash a message that comes in pieces. It takes no secret: the result can be sent to where the
        private key is.
        """
    @property
    def is_pre_hash(self) -> bool:
        """Whether the key is only for hashes of messages, as the file of an SLH-DSA key can say (HashSLH-DSA, RFC
        9909).
        """
    def to_pem(self) -> str:
        """The key as the PEM of a SubjectPublicKeyInfo."""
    def to_der(self) -> bytes:
        """The key as the DER of a SubjectPublicKeyInfo."""
    def to_bytes(self) -> bytes:
        """The raw key of FIPS 203, FIPS 204 or FIPS 205."""
    def save(self, path: _Path, *, overwrite: bool = False) -> None:
        """Writes the key to a new file, as PEM. With `overwrite`, it replaces an existing file."""
    @property
    def algorithm(self) -> SignatureAlgorithm:
        """The parameter set, such as `"ML-DSA-65"`."""
    def __bytes__(self) -> bytes: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __copy__(self) -> VerifyingKey: ...
    def __deepcopy__(self, _memo: object, /) -> VerifyingKey: ...

@final
class MessageHasher:
    """Hashes a message that comes in pieces, such as a file that is larger than memory, to sign it or to verify its
    signature: `SigningKey.hasher` and `VerifyingKey.hasher` make one.

    Threads may share one. In a process that was forked while another thread was in `update`, begin a new one: the
    old one would wait for a thread that is not there.

    >>> key = pqtls.SigningKey.generate("ML-DSA-65")
    >>> hasher = key.hasher()
    >>> hasher.update(b"mess")
    >>> hasher.update(b"age")
    >>> signature = key.sign_hashed(hasher.finish())
    >>> key.verifying_key.verify(b"message", signature)
    """
    def update(self, message: Buffer) -> None:
        """Hashes the next bytes of the message. Large pieces take less time."""
    def finish(self) -> HashedMessage:
        """Ends the message, and the hasher."""

@final
class HashedMessage:
    """All that a signature needs of a message, its context and pre-hash. It is no secret."""
    @staticmethod
    def from_mu(mu: Buffer) -> HashedMessage:
        """The message with this µ of 64 bytes (external µ, FIPS 204, section 6.2). Whether µ was computed for the
        key that signs it is not checked.
        """
    @property
    def mu(self) -> bytes | None:
        """µ, or None if the message was hashed by a pre-hash."""
    def __eq__(self, other: object, /) -> bool: ...

@final
class DecapsulationKey:
    """A private key that decapsulates, of any parameter set of ML-KEM. It never changes, and threads may share it.

    >>> key = pqtls.DecapsulationKey.generate("ML-KEM-768")
    >>> secret, ciphertext = key.encapsulation_key.encapsulate()
    >>> key.decapsulate(ciphertext) == secret
    True
    """
    @staticmethod
    def generate(algorithm: KemAlgorithm) -> DecapsulationKey:
        """Makes a new key from the operating system's randomness."""
    @staticmethod
    def from_seed(algorithm: KemAlgorithm, seed: Buffer) -> DecapsulationKey:
        """Expands a key from its seed: 32 bytes for ML-DSA (ξ of FIPS 204), 64 for ML-KEM (d ‖ z of FIPS 203), three
        times n for SLH-DSA (SK.seed ‖ SK.prf ‖ PK.seed of FIPS 205).
        """
    @staticmethod
    def from_expanded(algorithm: KemAlgorithm, data: Buffer) -> DecapsulationKey:
        """Reads a key from its expanded form, as `to_expanded` gives it."""
    @staticmethod
    def from_pem(data: _Text, passphrase: _Text | None = None) -> DecapsulationKey:
        """Reads the first PKCS#8 private key in a PEM text, a `str` or bytes, in any of the forms of RFC 9881, RFC
        9935 and RFC 9909. With a passphrase, a `str` or bytes, it reads the first encrypted one.
        """
    @staticmethod
    def from_der(data: Buffer, passphrase: _Text | None = None) -> DecapsulationKey:
        """Reads a PKCS#8 private key from DER; with a passphrase, an encrypted one."""
    @staticmethod
    def load(path: _Path, passphrase: _Text | None = None) -> DecapsulationKey:
        """Reads a private key from a file, PEM or DER."""
    def decapsulate(self, ciphertext: Buffer) -> bytes:
        """Recovers the shared secret of 32 bytes from a ciphertext. A ciphertext that was not made for this key
        gives a secret that nobody else has (implicit rejection, FIPS 203).
        """
    @property
    def encapsulation_key(self) -> EncapsulationKey:
        """The public key that others encapsulate to."""
    def to_pem(self, *, form: _Form | None = None, passphrase: _Text | None = None) -> str:
        """Writes the key as PKCS#8 PEM: its seed, or the one form of SLH-DSA, unless `form` asks for `"seed"`,
        `"expanded"` or `"both"`. With a passphrase, a `str` or bytes, the key is encrypted with AES-256 under a key
        that PBKDF2 derives from it, and any change of the text is noticed. Most programs read the seed; Java without
        BouncyCastle reads `form="expanded"` alone.
        """
    def to_der(self, *, form: _Form | None = None, passphrase: _Text | None = None) -> bytes:
        """Writes the key as PKCS#8 DER, as `to_pem` does."""
    def save(
        self,
        path: _Path,
        *,
        form: _Form | None = None,
        passphrase: _Text | None = None,
        overwrite: bool = False,
    ) -> None:
        """Writes the key as PEM to a new file that only its owner can read. With `overwrite`, it replaces an
        existing file.
        """
    def to_seed(self) -> bytes | None:
        """The seed, or None if the key was read from its expanded form. Whoever has it has the key."""
    def to_expanded(self) -> bytes:
        """The expanded key in the encoding of FIPS 203, FIPS 204 or FIPS 205. Whoever has it has the key."""
    @property
    def algorithm(self) -> KemAlgorithm:
        """The parameter set, such as `"ML-DSA-65"`."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> NoReturn: ...
    def __copy__(self) -> DecapsulationKey: ...
    def __deepcopy__(self, _memo: object, /) -> DecapsulationKey: ...

@final
class EncapsulationKey:
    """A public key that others encapsulate to, of any parameter set of ML-KEM. It never changes, and threads may
    share it.
    """
    @staticmethod
    def from_pem(data: _Text) -> EncapsulationKey:
        """Reads the first public key (SubjectPublicKeyInfo) in a PEM text, a `str` or bytes."""
    @staticmethod
    def from_der(data: Buffer) -> EncapsulationKey:
        """Reads the DER of a SubjectPublicKeyInfo."""
    @staticmethod
    def load(path: _Path) -> EncapsulationKey:
        """Reads a public key from a file, PEM or DER."""
    @staticmethod
    def from_bytes(algorithm: KemAlgorithm, data: Buffer) -> EncapsulationKey:
        """Reads the raw key of FIPS 203, FIPS 204 or FIPS 205."""
    def encapsulate(self) -> tuple[bytes, bytes]:
        """Makes a shared secret of 32 bytes, and the ciphertext that carries it to the owner of the private key."""
    def encapsulate_with_randomness(self, randomness: Buffer) -> tuple[bytes, bytes]:
        """Does the same as `encapsulate` with 32 bytes of randomness that you give: m of FIPS 203, algorithm 17. For
        tests: whoever knows m knows the secret.
        """
    def to_pem(self) -> str:
        """The key as the PEM of a SubjectPublicKeyInfo."""
    def to_der(self) -> bytes:
        """The key as the DER of a SubjectPublicKeyInfo."""
    def to_bytes(self) -> bytes:
        """The raw key of FIPS 203, FIPS 204 or FIPS 205."""
    def save(self, path: _Path, *, overwrite: bool = False) -> None:
        """Writes the key to a new file, as PEM. With `overwrite`, it replaces an existing file."""
    @property
    def algorithm(self) -> KemAlgorithm:
        """The parameter set, such as `"ML-DSA-65"`."""
    def __bytes__(self) -> bytes: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __copy__(self) -> EncapsulationKey: ...
    def __deepcopy__(self, _memo: object, /) -> EncapsulationKey: ...

def load_private_key(path: _Path, passphrase: _Text | None = None) -> SigningKey | DecapsulationKey:
    """Reads a private key of any algorithm from a file, PEM or DER: a SigningKey or a DecapsulationKey. An encrypted
    one needs its passphrase, a `str` or bytes.
    """

def load_public_key(path: _Path) -> VerifyingKey | EncapsulationKey:
    """Reads a public key of any algorithm from a file, PEM or DER: a VerifyingKey or an EncapsulationKey."""

def verify_many(
    keys: VerifyingKey | Iterable[VerifyingKey],
    messages: Buffer | Iterable[Buffer],
    signatures: Buffer | Iterable[Buffer],
    *,
    context: Buffer | None = None,
    pre_hash: PreHash | None = None,
    threads: int | None = None,
) -> list[bool]:
    """Verifies many signatures, on as many threads as there are cores, or on `threads` threads. Other Python threads
    run meanwhile.

    `keys` is one VerifyingKey for all, or one for each signature. Messages and signatures are sequences of
    bytes-like objects, or two-dimensional arrays of bytes with a row for each, such as NumPy arrays of `uint8`.

    It returns a list with True for each valid signature, and False for each invalid one. If the context is too long,
    or a key is for another pre-hash, the whole call raises an error.

    >>> key = pqtls.SigningKey.generate("ML-DSA-65")
    >>> messages = [b"one", b"two"]
    >>> signatures = [key.sign(b"one"), key.sign(b"three")]
    >>> pqtls.verify_many(key.verifying_key, messages, signatures)
    [True, False]
    """

@final
class Certificate:
    """An X.509 certificate. Reading one only checks that it is well-formed, and not who signed it: see
    ChainValidator.

    >>> key = pqtls.SigningKey.generate("ML-DSA-65")
    >>> root = pqtls.Issuer.self_signed(pqtls.CertificateBuilder.ca("Example Root"), key)
    >>> root.certificate.subject, root.certificate.is_ca
    ('CN=Example Root', True)
    >>> pqtls.Certificate.from_pem(root.certificate.to_pem()) == root.certificate
    True
    """
    @staticmethod
    def from_pem(data: _Text) -> Certificate:
        """Reads the first one in a PEM text, a `str` or bytes."""
    @staticmethod
    def from_der(data: Buffer) -> Certificate:
        """Reads it from DER. Nothing may follow."""
    @staticmethod
    def load(path: _Path) -> Certificate:
        """Reads it from a PEM or DER file; if a PEM file has several, the first."""
    def to_pem(self) -> str:
        """The document as PEM."""
    def to_der(self) -> bytes:
        """The document's DER."""
    def lint(self) -> list[Finding]:
        """What in it does not follow the standards, the worst first."""
    @staticmethod
    def chain_from_pem(data: _Text) -> list[Certificate]:
        """Reads all certificates in a PEM text, a `str` or bytes, in their order."""
    @staticmethod
    def load_chain(path: _Path) -> list[Certificate]:
        """Reads all certificates in a PEM file, or the one in a DER file."""
    @property
    def subject(self) -> str:
        """The subject's name as RFC 4514 writes it, such as `"CN=Example Root"`. It may be empty."""
    @property
    def issuer(self) -> str:
        """The issuer's name as RFC 4514 writes it."""
    @property
    def serial_number(self) -> int:
        """The serial number, which the issuer gave to no other certificate."""
    @property
    def not_before(self) -> datetime:
        """From when the certificate is valid, in UTC. Times before 1970 become 1970."""
    @property
    def not_after(self) -> datetime:
        """Until when the certificate is valid, in UTC."""
    def public_key(self) -> VerifyingKey | EncapsulationKey:
        """The subject's key: a VerifyingKey or an EncapsulationKey. A classical one raises `InvalidKey`."""
    @property
    def is_ca(self) -> bool:
        """Whether this is the certificate of a CA."""
    @property
    def path_len(self) -> int | None:
        """How many CAs may be below this one, or None if there is no limit."""
    @property
    def key_usage(self) -> list[_KeyUsage] | None:
        """What the key may be used for, by the names of RFC 5280, or None if the certificate does not say."""
    @property
    def extended_key_usage(self) -> list[str] | None:
        """What the key may be used for in applications, by the names of RFC 5280, such as `"serverAuth"`, or as
        numbers with dots if RFC 5280 has no name; None if the certificate does not say.
        """
    @property
    def extensions(self) -> list[Extension]:
        """All extensions, in their order. What most of them say is in the other attributes.

        >>> key = pqtls.SigningKey.generate("ML-DSA-65")
        >>> root = pqtls.Issuer.self_signed(pqtls.CertificateBuilder.ca("Example Root"), key).certificate
        >>> [extension.oid for extension in root.extensions if extension.critical]
        ['2.5.29.19', '2.5.29.15']
        """
    def fingerprint(self, algorithm: PreHash = "SHA-256") -> bytes:
        """A hash of the certificate, by which people compare certificates: `.hex()` makes text of it."""
    @property
    def dns_names(self) -> list[str]:
        """The DNS names that the certificate is for."""
    @property
    def ip_addresses(self) -> list[_Address]:
        """The addresses that the certificate is for, as objects of `ipaddress`."""
    @property
    def email_addresses(self) -> list[str]:
        """The e-mail addresses that the certificate is for."""
    @property
    def uris(self) -> list[str]:
        """The URIs that the certificate is for."""
    @property
    def subject_key_id(self) -> bytes | None:
        """The identifier by which certificates below this one name its key, if it has one."""
    def verify_signature(self, issuer: Certificate) -> None:
        """Checks only that the key of `issuer` made this certificate's signature, by ML-DSA or SLH-DSA. It returns
        nothing, or raises `InvalidSignature`.
        """
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __copy__(self) -> Certificate: ...
    def __deepcopy__(self, _memo: object, /) -> Certificate: ...

@final
class CertificateRevocationList:
    """A certificate revocation list, whose `len` is the number of certificates on it. Reading one only checks that
    it is well-formed, and not who signed it: see ChainValidator.
    """
    @staticmethod
    def from_pem(data: _Text) -> CertificateRevocationList:
        """Reads the first one in a PEM text, a `str` or bytes."""
    @staticmethod
    def from_der(data: Buffer) -> CertificateRevocationList:
        """Reads it from DER. Nothing may follow."""
    @staticmethod
    def load(path: _Path) -> CertificateRevocationList:
        """Reads it from a PEM or DER file; if a PEM file has several, the first."""
    def to_pem(self) -> str:
        """The document as PEM."""
    def to_der(self) -> bytes:
        """The document's DER."""
    def lint(self) -> list[Finding]:
        """What in it does not follow the standards, the worst first."""
    @staticmethod
    def all_from_pem(data: _Text) -> list[CertificateRevocationList]:
        """Reads all lists in a PEM text, a `str` or bytes, in their order."""
    @property
    def issuer(self) -> str:
        """The name of the CA that signed the list, and whose certificates are on it."""
    @property
    def this_update(self) -> datetime:
        """When the list was issued, in UTC."""
    @property
    def next_update(self) -> datetime | None:
        """By when a newer list is issued, in UTC, if the list says so."""
    @property
    def number(self) -> int | None:
        """The list's number, if there is one. A CA's numbers increase from list to list."""
    @property
    def entries(self) -> list[RevokedCertificate]:
        """The revoked certificates, in the list's order."""
    def entry_for(self, certificate: Certificate) -> RevokedCertificate | None:
        """The entry for a certificate, if it is on the list of its issuer. Who made the list, and when, is not
        checked.
        """
    def verify_signature(self, issuer: Certificate) -> None:
        """Checks only that the key of `issuer` made this list's signature, by ML-DSA or SLH-DSA. It returns nothing,
        or raises `InvalidSignature`.
        """
    def __len__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __copy__(self) -> CertificateRevocationList: ...
    def __deepcopy__(self, _memo: object, /) -> CertificateRevocationList: ...

@final
class RevokedCertificate:
    """An entry of a revocation list."""
    @property
    def serial_number(self) -> int:
        """The certificate's serial number."""
    @property
    def date(self) -> datetime:
        """When the certificate was revoked, in UTC."""
    @property
    def reason(self) -> _Reason:
        """Why it was revoked, by the names of RFC 5280, such as `"keyCompromise"`."""
    def __eq__(self, other: object, /) -> bool: ...

@final
class Extension:
    """An extension of a certificate."""
    @property
    def oid(self) -> str:
        """Which extension it is, as numbers with dots, such as `"2.5.29.17"` for subjectAltName."""
    @property
    def critical(self) -> bool:
        """Whether a reader that does not know the extension must refuse the certificate."""
    @property
    def value(self) -> bytes:
        """What it says: the DER within the extension's OCTET STRING."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Finding:
    """Something in a document that does not follow a standard, or that relying parties refuse."""
    @property
    def rule(self) -> str:
        """The rule's name."""
    @property
    def severity(self) -> Literal["error", "warning", "notice"]:
        """`"error"` where a standard says MUST, `"warning"` where it says SHOULD, `"notice"` elsewhere."""
    @property
    def section(self) -> str:
        """The section that has the rule."""
    @property
    def what(self) -> str:
        """What in the document breaks the rule."""

@final
class CertificateRequest:
    """A certification request (PKCS#10, RFC 2986): names and a public key, signed by the private key that belongs to
    it. A request that was only read has proven nothing yet: `verify` it.
    """
    @staticmethod
    def from_pem(data: _Text) -> CertificateRequest:
        """Reads the first one in a PEM text, a `str` or bytes."""
    @staticmethod
    def from_der(data: Buffer) -> CertificateRequest:
        """Reads it from DER. Nothing may follow."""
    @staticmethod
    def load(path: _Path) -> CertificateRequest:
        """Reads it from a PEM or DER file; if a PEM file has several, the first."""
    def to_pem(self) -> str:
        """The document as PEM."""
    def to_der(self) -> bytes:
        """The document's DER."""
    def lint(self) -> list[Finding]:
        """What in it does not follow the standards, the worst first."""
    def verify(self) -> VerifiedRequest:
        """Checks the proof of possession of an ML-DSA or SLH-DSA key: the request must be signed by the key in it.
        The result says what the request asks for.
        """
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __copy__(self) -> CertificateRequest: ...
    def __deepcopy__(self, _memo: object, /) -> CertificateRequest: ...

@final
class VerifiedRequest:
    """A request whose sender has proven to have the private key. The CA has to find out whether the names belong to
    the sender.
    """
    @property
    def subject(self) -> str:
        """The name asked for, as RFC 4514 writes it. It may be empty."""
    @property
    def dns_names(self) -> list[str]:
        """The DNS names asked for."""
    @property
    def ip_addresses(self) -> list[_Address]:
        """The addresses asked for, as objects of `ipaddress`."""
    @property
    def email_addresses(self) -> list[str]:
        """The e-mail addresses asked for. Issuing checks them."""
    @property
    def uris(self) -> list[str]:
        """The URIs asked for. Issuing checks them."""
    def public_key(self) -> VerifyingKey | EncapsulationKey:
        """The public key."""
    def certificate(self) -> CertificateBuilder:
        """A builder with the names of the request, and nothing else: the CA decides on purposes, key usage and
        validity.
        """

@final
class RequestBuilder:
    """What a request will ask for. Each method returns a new builder, and leaves the old one unchanged.

    >>> key = pqtls.SigningKey.generate("ML-DSA-65")
    >>> request = pqtls.RequestBuilder().dns_name("example.org").sign(key)
    >>> request.verify().dns_names
    ['example.org']
    """
    def __new__(cls) -> RequestBuilder: ...
    def common_name(self, name: str) -> RequestBuilder:
        """The subject's common name, of 1 to 64 characters, in place of any other name."""
    def subject(self, name: str) -> RequestBuilder:
        """The subject's full name, as RFC 4514 writes it, such as `"CN=Example,O=Example,C=SE"`."""
    def dns_name(self, name: str) -> RequestBuilder:
        """Adds a DNS name. The first label may be `*`."""
    def ip_address(self, address: str | _Address) -> RequestBuilder:
        """Adds an address: a `str` or an object of `ipaddress`."""
    def email_address(self, address: str) -> RequestBuilder:
        """Adds an e-mail address."""
    def uri(self, uri: str) -> RequestBuilder:
        """Adds a URI, such as a SPIFFE ID."""
    def sign(self, key: SigningKey) -> CertificateRequest:
        """Signs the request with the key that the certificate will be for."""

@final
class CertificateBuilder:
    """What a certificate will contain. Each method returns a new builder, and leaves the old one unchanged. An
    Issuer makes a certificate from it, or raises an error that says what is missing.

    >>> pqtls.CertificateBuilder.ca("Example CA").path_len(0).days(365)
    <pqtls.CertificateBuilder for a CA>
    """
    @staticmethod
    def ca(common_name: str) -> CertificateBuilder:
        """A CA's certificate, valid for 3650 days."""
    @staticmethod
    def server() -> CertificateBuilder:
        """A TLS server's certificate, valid for 90 days. It needs a DNS name or an address."""
    @staticmethod
    def client() -> CertificateBuilder:
        """A TLS client's certificate, valid for 90 days."""
    @staticmethod
    def end_entity() -> CertificateBuilder:
        """A certificate without a purpose yet, valid for 90 days."""
    def common_name(self, name: str) -> CertificateBuilder:
        """The subject's common name, of 1 to 64 characters, in place of any other name."""
    def subject(self, name: str) -> CertificateBuilder:
        """The subject's full name, as RFC 4514 writes it, such as `"CN=Example Root,O=Example,C=SE"`."""
    def dns_name(self, name: str) -> CertificateBuilder:
        """Adds a DNS name, for an end entity only. The first label may be `*`."""
    def ip_address(self, address: str | _Address) -> CertificateBuilder:
        """Adds an address, for an end entity only: a `str` or an object of `ipaddress`."""
    def email_address(self, address: str) -> CertificateBuilder:
        """Adds an e-mail address, for an end entity only."""
    def uri(self, uri: str) -> CertificateBuilder:
        """Adds a URI, such as a SPIFFE ID, for an end entity only."""
    def validity(self, not_before: datetime, not_after: datetime) -> CertificateBuilder:
        """From when and until when the certificate is valid: times with a timezone. By default it is valid from one
        hour ago.
        """
    def days(self, days: int) -> CertificateBuilder:
        """For how many days from now the certificate is valid. It is valid from one hour ago."""
    def serial_number(self, number: int) -> CertificateBuilder:
        """The serial number, positive and of at most 20 bytes. The issuer has to keep it unique. By default it is
        random.
        """
    def key_usage(self, *usages: _KeyUsage) -> CertificateBuilder:
        """What the key may be used for, by the names of RFC 5280, such as `"digitalSignature"`. By default it is
        what the key and the role require.
        """
    def revocation_list_url(self, url: str) -> CertificateBuilder:
        """Adds a URL of the issuer's revocation list."""
    def ocsp_url(self, url: str) -> CertificateBuilder:
        """Adds a URL of a responder that says whether the certificate was revoked."""
    def server_auth(self) -> CertificateBuilder:
        """Adds the purpose of TLS servers."""
    def client_auth(self) -> CertificateBuilder:
        """Adds the purpose of TLS clients."""
    def path_len(self, path_len: int) -> CertificateBuilder:
        """How many CAs may be below this one. This is for a CA only, and so is all that permits or excludes names."""
    def permit_dns(self, name: str) -> CertificateBuilder:
        """Restricts the CA to this DNS name and those below it, and to others that are permitted."""
    def exclude_dns(self, name: str) -> CertificateBuilder:
        """Keeps the CA from issuing for this DNS name and those below it."""
    def permit_ip(self, network: str | _Network) -> CertificateBuilder:
        """Restricts the CA to the addresses of this network, such as `"10.0.0.0/8"`, and to others that are
        permitted. The network is a `str` or an object of `ipaddress`.
        """
    def exclude_ip(self, network: str | _Network) -> CertificateBuilder:
        """Keeps the CA from issuing for the addresses of this network."""
    def permit_email(self, constraint: str) -> CertificateBuilder:
        """Restricts the CA to this e-mail address or those of this host, or with a dot before it, of hosts below it,
        and to others that are permitted.
        """
    def exclude_email(self, constraint: str) -> CertificateBuilder:
        """Keeps the CA from issuing for these e-mail addresses."""
    def permit_uri(self, host: str) -> CertificateBuilder:
        """Restricts the CA to URIs of this host, or with a dot before it, of hosts below it, and to others that are
        permitted.
        """
    def exclude_uri(self, host: str) -> CertificateBuilder:
        """Keeps the CA from issuing for URIs of this host."""

@final
class CertificateRevocationListBuilder:
    """What a revocation list will contain. It is a complete list, and its number must be larger than that of any
    list before. Each method returns a new builder, and leaves the old one unchanged.

    >>> key = pqtls.SigningKey.generate("ML-DSA-65")
    >>> root = pqtls.Issuer.self_signed(pqtls.CertificateBuilder.ca("Example Root"), key)
    >>> builder = pqtls.CertificateRevocationListBuilder(1).revoke(5, reason="keyCompromise")
    >>> root.issue_revocation_list(builder).entries
    [<pqtls.RevokedCertificate 5: keyCompromise>]
    """
    def __new__(cls, number: int) -> CertificateRevocationListBuilder: ...
    def validity(self, this_update: datetime, next_update: datetime) -> CertificateRevocationListBuilder:
        """From when the list is used, and by when there will be a newer one: times with a timezone. By default it is
        used from one hour ago and for 7 days.
        """
    def revoke(
        self, serial_number: int, date: datetime | None = None, reason: _Reason = "unspecified"
    ) -> CertificateRevocationListBuilder:
        """Lists a certificate of this CA as revoked since `date`, a time with a timezone, by default now. The reason
        is one of RFC 5280, such as `"keyCompromise"`.
        """

_Subject: TypeAlias = (
    SigningKey | VerifyingKey | DecapsulationKey | EncapsulationKey | VerifiedRequest | Certificate | Buffer
)

@final
class Issuer:
    """A CA: a certificate and the key that belongs to it. It never changes, and threads may share it.

    >>> root = pqtls.Issuer.self_signed(
    ...     pqtls.CertificateBuilder.ca("Example Root"), pqtls.SigningKey.generate("ML-DSA-65")
    ... )
    >>> key = pqtls.SigningKey.generate("ML-DSA-65")
    >>> root.issue(pqtls.CertificateBuilder.server().dns_name("example.org"), key).issuer
    'CN=Example Root'
    """
    def __new__(cls, certificate: Certificate, key: SigningKey) -> Issuer: ...
    @staticmethod
    def self_signed(builder: CertificateBuilder, key: SigningKey) -> Issuer:
        """Makes a root: a CA whose certificate is signed by its own key."""
    @property
    def certificate(self) -> Certificate:
        """The CA's own certificate."""
    def issue(self, builder: CertificateBuilder, subject: _Subject) -> Certificate:
        """Issues a certificate for a key of this package, for the key in a VerifiedRequest or a Certificate, or for
        the DER of a classical key's SubjectPublicKeyInfo.
        """
    def issue_ca(self, builder: CertificateBuilder, key: SigningKey) -> Issuer:
        """Issues a certificate for another CA and returns that CA."""
    def issue_revocation_list(self, builder: CertificateRevocationListBuilder) -> CertificateRevocationList:
        """Issues a revocation list."""
    def __reduce__(self) -> NoReturn: ...

@final
class ChainValidator:
    """Decides whether a chain of certificates leads to a trusted root. It never changes, and threads may share it.

    All signatures must be by ML-DSA or SLH-DSA: chains with classical ones are refused.

    Revocation is checked only if `revocation_lists` are given. Then a certificate that no list covers is refused,
    unless `allow_unknown_status` is set. `end_entity_only` leaves CAs unchecked, and `allow_expired_lists` accepts
    expired lists. `relax_key_usage` accepts key usages that the RFCs forbid.

    >>> key = pqtls.SigningKey.generate("ML-DSA-65")
    >>> root = pqtls.Issuer.self_signed(pqtls.CertificateBuilder.ca("Example Root"), key)
    >>> leaf = root.issue(pqtls.CertificateBuilder.server().dns_name("example.org"), key)
    >>> validator = pqtls.ChainValidator([root.certificate])
    >>> len(validator.validate_server([leaf], "example.org"))
    2
    >>> validator.validate_server([leaf], "example.net")
    Traceback (most recent call last):
        ...
    pqtls.ValidationError: the certificate is not for example.net but for example.org; use one of these names, or have a certificate issued for example.net
    """
    def __new__(
        cls,
        roots: Sequence[Certificate],
        *,
        revocation_lists: Sequence[CertificateRevocationList] | None = None,
        end_entity_only: bool = False,
        allow_unknown_status: bool = False,
        allow_expired_lists: bool = False,
        relax_key_usage: bool = False,
    ) -> ChainValidator: ...
    def validate_server(
        self, chain: Sequence[Certificate], name: str, time: datetime | None = None
    ) -> list[Certificate]:
        """Validates the chain of a TLS server. `name` is the DNS name or address that the client connected to;
        `time` has a timezone, and is now by default. The chain begins with the server's certificate. The CAs'
        certificates follow in any order, and the root may be left out. It returns the path with the root, or raises
        `ValidationError`.
        """
    def validate_client(self, chain: Sequence[Certificate], time: datetime | None = None) -> list[Certificate]:
        """Validates the chain of a TLS client. The first certificate says who the client is."""
    def validate(
        self,
        chain: Sequence[Certificate],
        purpose: _Purpose,
        name: str | None = None,
        time: datetime | None = None,
    ) -> list[Certificate]:
        """Validates a chain for a purpose, `"server_auth"`, `"client_auth"` or `"documents"`, and for a DNS name or
        an address if one is given. The end entity's key may be of any algorithm, ML-KEM included.
        """
    def validate_email(
        self,
        chain: Sequence[Certificate],
        address: str,
        purpose: _Purpose = "documents",
        time: datetime | None = None,
    ) -> list[Certificate]:
        """Validates a chain for a purpose and an e-mail address."""
    def validate_uri(
        self,
        chain: Sequence[Certificate],
        uri: str,
        purpose: _Purpose = "client_auth",
        time: datetime | None = None,
    ) -> list[Certificate]:
        """Validates a chain for a purpose and a URI, which is compared character by character."""
