# Writes a file in the site's directory for checkpoints, flushes it to the storage, reads it back
# and compares it. The file has no name while it is written: nothing is left if the pod is
# killed. Prints one line: "checkpoint test: " and JSON.
import errno
import json
import os
import time
import uuid

DIRECTORY = os.environ["CHECKPOINT_DIRECTORY"]
BLOCK = 16 << 20
BLOCKS = (int(os.environ["CHECKPOINT_MIB"]) << 20) // BLOCK
RESERVE = 1 << 30  # bytes that stay free for other users of the file system


def file_system(path):
    """Returns type and source of the file system that path is on."""
    path, best, found = os.path.realpath(path), -1, ("", "")
    with open("/proc/self/mountinfo", encoding="utf-8") as mounts:
        for line in mounts:
            before, _, after = line.partition(" - ")
            point = before.split()[4].rstrip("/")
            if (path + "/").startswith(point + "/") and len(point) >= best:
                best, found = len(point), after.split()[:2]
    return found


def free():
    space = os.statvfs(DIRECTORY)
    return space.f_bavail * space.f_frsize


def run(seen):
    seen["fileSystem"], seen["source"] = file_system(DIRECTORY)
    seen["freeBytes"] = free()
    block = bytearray(os.urandom(BLOCK))
    path = os.path.join(DIRECTORY, ".firstlight-" + str(uuid.uuid4()))
    with open(path, "x+b") as f:
        os.unlink(path)
        began = time.monotonic()
        for i in range(BLOCKS):
            if free() < RESERVE:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            block[:8] = i.to_bytes(8, "big")  # no two blocks are equal
            f.write(block)
        f.flush()
        os.fsync(f.fileno())
        seen["writeSeconds"] = round(time.monotonic() - began, 3)
        os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)  # read the storage, not the page cache
        f.seek(0)
        back, began = bytearray(BLOCK), time.monotonic()
        for i in range(BLOCKS):
            block[:8] = i.to_bytes(8, "big")
            if f.readinto(back) != BLOCK or back != block:
                raise OSError(errno.EIO, f"block {i} is not what was written")
            seen["bytes"] += BLOCK
        seen["readSeconds"] = round(time.monotonic() - began, 3)


seen = {"index": int(os.environ["JOB_COMPLETION_INDEX"]), "bytes": 0}
try:
    run(seen)
except OSError as e:
    seen["error"] = str(e)
print("checkpoint test: " + json.dumps(seen), flush=True)
