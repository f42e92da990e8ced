"""Archives in memory."""

import io
import tarfile
import zipfile


def zipped(members):
    """Return a zip archive of files, by their names and content."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, body in members.items():
            packed.writestr(name, body)
    return stream.getvalue()


def tarred(members, links=()):
    """Return a packed tar archive of files, and of links to places outside."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as packed:
        for name, body in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(body)
            packed.addfile(info, io.BytesIO(body))
        for name in links:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
            packed.addfile(info)
    return stream.getvalue()
