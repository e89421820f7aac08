"""What `bench` runs, in an environment with this package, built with the feature `bench`, and pyca's cryptography."""

import platform
import re
import statistics
import time
from collections.abc import Callable

import cryptography
import pqtls
from cryptography.hazmat.backends.openssl import backend
from cryptography.hazmat.primitives.asymmetric import mldsa, mlkem
from pqtls._pqtls import in_rust

ROUNDS = 60
MESSAGE = bytes(range(32))

Operation = Callable[[], object]


def timed(operation: Operation, times: int) -> float:
    """Microseconds that it takes."""
    start = time.perf_counter_ns()
    for _ in range(times):
        operation()
    return (time.perf_counter_ns() - start) / times / 1000


def in_turn(measures: list[Callable[[], float]], rounds: int = ROUNDS) -> list[list[float]]:
    """What each measures, in rounds of all of them, so that a noisy machine is noisy for all."""
    found: list[list[float]] = [[] for _ in measures]
    for _ in range(rounds):
        for results, measure in zip(found, measures, strict=True):
            results.append(measure())
    return found


def row(*cells: object) -> None:
    print("| " + " | ".join(f"{cell:.2f}" if isinstance(cell, float) else str(cell) for cell in cells) + " |")


def beside(
    name: str,
    ours: Operation,
    asked: str,
    times: int,
    rust: Callable[[], float] | None = None,
    theirs: Operation | None = None,
) -> None:
    """Medians, and medians of the differences and ratios within each round."""
    measures = [lambda: timed(ours, times)]
    if rust is not None:
        measures.append(lambda: rust() / 1000)
    if theirs is not None:
        measures.append(lambda: timed(theirs, max(times // 4, 1)))
    found = in_turn(measures)
    pqtls_took = found.pop(0)
    cells: list[object] = [name, statistics.median(pqtls_took), "", "", "", "", asked]
    if rust is not None:
        native = found.pop(0)
        over = statistics.median(ours - rust for ours, rust in zip(pqtls_took, native, strict=True))
        ratio = statistics.median(ours / rust for ours, rust in zip(pqtls_took, native, strict=True))
        cells[2:4] = statistics.median(native), f"{over:.2f} ({100 * (ratio - 1):.1f} %)"
    if theirs is not None:
        pyca = found.pop(0)
        cells[4] = statistics.median(pyca)
        cells[5] = f"{statistics.median(pyca) / statistics.median(pqtls_took):.1f}"
    row(*cells)


def signatures(algorithm: str, theirs: type | None, times: int, asked: tuple[str, str, str]) -> None:
    key = pqtls.SigningKey.generate(algorithm)
    public = key.verifying_key
    signature = key.sign(MESSAGE, deterministic=True)
    public.verify(MESSAGE, signature)
    generate = sign = verify = None
    if theirs is not None:
        other = theirs.generate()
        other_public, other_signature = other.public_key(), other.sign(MESSAGE)
        generate = theirs.generate
        sign = lambda: other.sign(MESSAGE)
        verify = lambda: other_public.verify(other_signature, MESSAGE)

    def rust(operation: str) -> Callable[[], float]:
        return lambda: in_rust(operation, key, MESSAGE, times)

    generated = lambda: pqtls.SigningKey.generate(algorithm)
    beside(f"{algorithm} key generation", generated, asked[0], times, rust("generate"), generate)
    # The same signature in Python and in Rust. pyca signs only hedged, so each of those signatures takes a random
    # number of attempts.
    signed = lambda: key.sign(MESSAGE, deterministic=True)
    beside(f"{algorithm} signing, deterministic", signed, "" if sign else asked[1], times, rust("sign"))
    if sign:
        beside(f"{algorithm} signing", lambda: key.sign(MESSAGE), asked[1], 4 * times, None, sign)
    verified = lambda: public.verify(MESSAGE, signature)
    beside(f"{algorithm} verification", verified, asked[2], times, rust("verify"), verify)


def secrets(algorithm: str, theirs: type, times: int, asked: tuple[str, str, str]) -> None:
    key = pqtls.DecapsulationKey.generate(algorithm)
    public = key.encapsulation_key
    _, ciphertext = public.encapsulate()
    other = theirs.generate()
    other_public = other.public_key()
    _, other_ciphertext = other_public.encapsulate()

    def rust(operation: str) -> Callable[[], float]:
        return lambda: in_rust(operation, key, ciphertext, times)

    generated = lambda: pqtls.DecapsulationKey.generate(algorithm)
    beside(f"{algorithm} key generation", generated, asked[0], times, rust("generate"), theirs.generate)
    made = (public.encapsulate, asked[1], times, rust("encapsulate"), other_public.encapsulate)
    beside(f"{algorithm} encapsulation", *made)
    opened = lambda: key.decapsulate(ciphertext)
    beside(f"{algorithm} decapsulation", opened, asked[2], times, rust("decapsulate"), lambda: other.decapsulate(other_ciphertext))


def batches() -> None:
    key = pqtls.SigningKey.generate("ML-DSA-65")
    public = key.verifying_key
    messages = [i.to_bytes(4, "big") for i in range(4000)]
    signed = [key.sign(message) for message in messages]

    def many(threads: int) -> float:
        return timed(lambda: pqtls.verify_many(public, messages, signed, threads=threads), 1) / len(messages)

    def computing(threads: int) -> float:
        start = time.process_time_ns()
        pqtls.verify_many(public, messages, signed, threads=threads)
        return (time.process_time_ns() - start) / 1000 / len(messages)

    def one_by_one() -> float:
        start = time.perf_counter_ns()
        for message, signature in zip(messages, signed, strict=True):
            public.verify(message, signature)
        return (time.perf_counter_ns() - start) / 1000 / len(messages)

    # CPU time tells what the threads compute: it does not grow while other programs have the cores.
    measures = [one_by_one, *(lambda t=t, m=m: m(t) for m in (many, computing) for t in (1, 2))]
    loop, one, two, one_computing, two_computing = in_turn(measures, 100)
    print("\n| 4,000 signatures of ML-DSA-65 by one key, µs for each | median | best | computing |\n|---|---|---|---|")
    row("`verify`, in a loop", statistics.median(loop), min(loop), "")
    for name, took, computed in (("one thread", one, one_computing), ("two threads", two, two_computing)):
        row(f"`verify_many`, {name}", statistics.median(took), min(took), statistics.median(computed))
    print(f"\nTwo threads to one: {min(one) / min(two):.2f}, and with two cores to themselves at most ", end="")
    print(f"{2 * statistics.median(one_computing) / statistics.median(two_computing):.2f} (asked 1.9)")


def cpu() -> str:
    try:
        text = open("/proc/cpuinfo").read()
    except OSError:
        return platform.processor()
    found = [re.search(rf"^{name}\s*: (.*)$", text, re.M) for name in ("model name", "cpu family", "model")]
    name, family, model = (match[1] if match else "?" for match in found)
    return f"{name}, family {family}, model {model}" + (", AVX-512" if " avx512f" in text else "")


print(f"{cpu()}; Python {platform.python_version()}; cryptography {cryptography.__version__}, {backend.openssl_version_text()}\n")
print("| µs | pqtls | Rust | over Rust | pyca | pyca / pqtls | asked |\n|---|---|---|---|---|---|---|")
signatures("ML-DSA-65", mldsa.MLDSA65PrivateKey, 40, ("3.5", "14", "5"))
secrets("ML-KEM-768", mlkem.MLKEM768PrivateKey, 200, ("7", "2.3", "3.5"))
ROUNDS = 15
for algorithm in ("SLH-DSA-SHAKE-128f", "SLH-DSA-SHA2-128f"):
    signatures(algorithm, None, 2, ("2 %",) * 3)
batches()
