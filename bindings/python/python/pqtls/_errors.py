"""The exceptions. Their texts are those of the Rust crate's errors: what happened, and what to do."""


class Error(Exception):
    """The base class of all exceptions of this package."""


class UnknownAlgorithm(Error, ValueError):
    """A name is not that of a known algorithm, hash function, form, purpose, usage or reason."""


class InvalidKey(Error, ValueError):
    """A key could not be read."""


class ProtectionError(Error, ValueError):
    """An encrypted key could not be read or written; most often, the passphrase is wrong."""


class OperationError(Error, ValueError):
    """The key does not support an operation, or the operation does not accept this input."""


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
