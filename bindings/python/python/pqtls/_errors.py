"""The exceptions. Their words are those of the Rust crate's errors: what happened, and what to do."""


class Error(Exception):
    """What all exceptions of this package are."""


class UnknownAlgorithm(Error, ValueError):
    """A name is none of the algorithms, hash functions, forms, usages or reasons asked for."""


class InvalidKey(Error, ValueError):
    """A key could not be read."""


class ProtectionError(Error, ValueError):
    """A key under a passphrase could not be read or written: above all, the passphrase is wrong."""


class OperationError(Error, ValueError):
    """An operation is not to be had of this key, or does not take this input."""


class InvalidSignature(Error):
    """A signature is not valid for this key and message."""


class CertificateError(Error, ValueError):
    """A certificate could not be read."""


class RequestError(Error, ValueError):
    """A certification request could not be made, read or accepted."""


class RevocationListError(Error, ValueError):
    """A revocation list could not be read."""


class IssueError(Error, ValueError):
    """A certificate or a revocation list could not be issued."""


class ValidationError(Error):
    """A chain of certificates does not lead to a trusted root."""


class RandomnessError(Error):
    """The operating system gave no randomness."""


for _error in list(globals().values()):
    if isinstance(_error, type):
        _error.__module__ = "pqtls"
del _error
