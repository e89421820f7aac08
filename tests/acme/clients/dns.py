"""A DNS server for tests: every name is at 127.0.0.1, and a file has the texts: in each line a name, a blank and a text.

    dns.py PORT FILE
"""

import pathlib
import socket
import struct
import sys

A, TXT = 1, 16


def answer(query: bytes, texts: pathlib.Path) -> bytes:
    end, labels = 12, []
    while query[end]:
        labels.append(query[end + 1 : end + 1 + query[end]].decode())
        end += 1 + query[end]
    question = query[12 : end + 5]
    (kind,) = struct.unpack("!H", query[end + 1 : end + 3])
    name, records = ".".join(labels).lower(), []
    if kind == A:
        records = [socket.inet_aton("127.0.0.1")]
    elif kind == TXT and texts.exists():
        lines = [line.split() for line in texts.read_text().splitlines()]
        records = [bytes([len(text)]) + text.encode() for host, text in lines if host.rstrip(".").lower() == name]
    head = query[:2] + struct.pack("!HHHHH", 0x8580, 1, len(records), 0, 0)
    rest = [struct.pack("!HHHIH", 0xC00C, kind, 1, 0, len(data)) + data for data in records]
    return head + question + b"".join(rest)


def main() -> None:
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", int(sys.argv[1])))
    while True:
        query, client = server.recvfrom(4096)
        server.sendto(answer(query, pathlib.Path(sys.argv[2])), client)


main()
