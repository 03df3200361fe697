"""Errors of the file system: what to do about them."""

import errno

_RIGHTS = "You may not do that there: change the rights, or give another folder."
_ADVICE = {
    errno.ENOSPC: "Make room on the disk, or give a folder on another one.",
    errno.EDQUOT: "Your share of the disk is used up: make room, or give a folder on another disk.",
    errno.EROFS: "The disk can only be read: give a folder on another one.",
    errno.EACCES: _RIGHTS,
    errno.EPERM: _RIGHTS,
    errno.ENOENT: "Check the path.",
    errno.ENOTDIR: "A file stands where a folder was expected: check the path.",
    errno.EEXIST: "A file stands where a folder was expected: check the path.",
    errno.EISDIR: "A folder stands where a file was expected: check the path.",
    errno.ENAMETOOLONG: "Give a shorter path.",
    errno.EMFILE: "Allow more open files (`ulimit -n`).",
    errno.EIO: "The disk or its connection has a fault: give a folder on another one.",
}


def advice(error: OSError) -> str:
    """error (OSError): from the file system. RETURNS (str): a sentence with what to do."""
    return _ADVICE.get(error.errno or 0, "Look into it, or give a folder on another disk.")


def reason(error: OSError) -> str:
    """error (OSError): any. RETURNS (str): what happened, without its number."""
    return error.strerror or str(error)
