"""Small files that stand for gigabytes, read in a process whose memory is limited.

``python -m tests.datasets.bombs FOLDER`` writes each, reads it, and prints a line of JSON: its
name, the class and the message of the error, and the most memory that was taken.
"""

import bz2
import gzip
import json
import lzma
import os
import resource
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kernlearn.engine.machine import greatest_memory

#: Bytes of address space beside those of the process before.
ALLOWED = 1 << 29
_HUGE = 3 * ALLOWED
_PACK = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}

Read = Callable[[Path], Any]
Write = Callable[[Path], Any]
BOMBS: dict[str, tuple[str, Write, Read]] = {}


def bomb(file: str, read: Read | None = None, **options: Any) -> Callable[[Write], Write]:
    """Register a function that writes a file, which is then read, or loaded with options."""

    def load(path: Path) -> Any:
        from kernlearn.datasets import load

        return load(path, cache=False, **options)

    def registered(write: Write) -> Write:
        BOMBS[f"{write.__name__}: {file}"] = file, write, read or load
        return write

    return registered


def _repeated(block: bytes, path: Path, total: int = _HUGE, head: bytes = b"") -> None:
    """Write a packed file with a block again and again; it is packed once."""
    pack = _PACK[path.suffix]
    many = block * max(1, (1 << 22) // len(block))
    packed = pack(many)
    with path.open("wb") as file:
        file.write(pack(head) if head else b"")
        for _ in range(max(1, total // len(many))):
            file.write(packed)


def _member(path: Path) -> Any:
    from kernlearn.datasets.unpacking import find_member

    return find_member(path, "f.csv")


def _content(path: Path) -> Any:
    from kernlearn.datasets.unpacking import read_bytes

    return read_bytes(path / "f.csv")


@bomb("zeros.csv.gz")
@bomb("zeros.csv.bz2")
@bomb("zeros.csv.xz")
def zeros(path: Path) -> None:
    _repeated(bytes(1 << 22), path)


@bomb("rows.csv.gz")
def rows(path: Path) -> None:
    _repeated(b"1,2,a\n3,4,b\n", path, 200 << 20)


@bomb("narrow.csv.gz")
def blank_lines(path: Path) -> None:
    _repeated(b"\n\r", path, 100 << 20)


@bomb("wide.csv.gz")
def one_line(path: Path) -> None:
    _repeated(b"1,", path, 100 << 20)


@bomb("late.csv.gz")
def one_wide_line_among_narrow(path: Path) -> None:
    _repeated(b"1,", path, 40 << 20, head=b"1,2\n" * 200)


@bomb("emoji.csv.gz")
def wide_letters(path: Path) -> None:
    _repeated(b"x,2\n", path, 60 << 20, head="a,b\n😀,1\n".encode())


@bomb("f.libsvm.gz")
def pairs(path: Path) -> None:
    _repeated(b"1 1:1 2:1 3:1\n2 1:2\n", path, 150 << 20)


@bomb("index.libsvm")
def one_huge_index(path: Path) -> None:
    path.write_text("1 1:1 2000000000:1\n2 1:2\n")


@bomb("beyond.libsvm")
def an_index_beyond_all(path: Path) -> None:
    path.write_text(f"1 1:1 {10**17}:1\n2 1:2\n")


@bomb("wide.arff", task="classification")
def sparse_arff_that_is_dense_for_nominal_values(path: Path) -> None:
    names = "".join(f"@attribute a{i} {{x,y}}\n" for i in range(20_000))
    path.write_text(f"@relation r\n{names}@attribute c {{u,v}}\n@data\n" + "{0 y}\n" * 20_000)


@bomb("pax.tar.gz", _member)
def a_header_of_gigabytes(path: Path) -> None:
    info = tarfile.TarInfo("pax")
    info.type, info.size = tarfile.XHDTYPE, _HUGE - 1024
    _repeated(bytes(1024), path, head=info.tobuf(tarfile.USTAR_FORMAT))


@bomb("many.tar.gz", _member)
def millions_of_members(path: Path) -> None:
    _repeated(tarfile.TarInfo("x").tobuf(tarfile.USTAR_FORMAT), path)


@bomb("large.tar.xz", _content)
def a_member_of_a_tape_of_gigabytes(path: Path) -> None:
    info = tarfile.TarInfo("f.csv")
    info.size = _HUGE
    _repeated(bytes(1024), path, head=info.tobuf(tarfile.USTAR_FORMAT))


@bomb("member.zip", _content)
def a_member_of_gigabytes(path: Path) -> None:
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed,
        packed.open("f.csv", "w") as member,
    ):
        for _ in range(500):
            member.write(bytes(1 << 20))


@bomb("directory.zip", _member)
def a_directory_of_gigabytes(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("f.csv", "1")
    content = path.read_bytes()
    at = content.index(b"PK\x01\x02")
    end = content.index(b"PK\x05\x06")
    entry, n = content[at:end], 300_000
    size = (n * len(entry)).to_bytes(4, "little")
    path.write_bytes(
        content[:at]
        + entry * n
        + content[end : end + 8]
        + b"\xff\xff\xff\xff"
        + size
        + content[end + 16 :]
    )


def main(folder: Path, names: list[str]) -> None:
    """Write and read the bombs, or those named."""
    # what readers import is there before the limit is
    import h5py  # noqa: F401

    from kernlearn.datasets import load

    small = folder / "small.csv"
    small.write_text("a,b,c\n1,2,x\n3,4,y\n5,6,x\n")
    load(small, cache=False)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + ALLOWED,) * 2)
    before = greatest_memory(os.getpid())
    for name in names or BOMBS:
        file, write, read = BOMBS[name]
        path = folder / file
        write(path)
        kind, message = "", ""
        try:
            read(path)
        except BaseException as error:
            kind, message = type(error).__name__, str(error)
        size = path.stat().st_size
        path.unlink()
        found = {"name": name, "kind": kind, "message": message, "size": size}
        print(json.dumps({**found, "taken": greatest_memory(os.getpid()) - before}), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
