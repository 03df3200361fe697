"""Errors of the file system: what to do about them."""

import errno

_ADVICE = {
    errno.ENOSPC: "Make room on the disk, or give a folder on another one.",
    errno.EDQUOT: "Your disk quota is used up: make room, or give a folder on another disk.",
    errno.EROFS: "The disk can only be read: give a folder on another one.",
    errno.EACCES: "You may not do that there: change the rights, or give another folder.",
    errno.EPERM: "You may not do that there: change the rights, or give another folder.",
    errno.ENOTDIR: "A file stands where a folder was expected: check the path.",
    errno.EEXIST: "A file stands where a folder was expected: check the path.",
}


def advice(error: OSError) -> str:
    """error (OSError): from the file system. RETURNS (str): a sentence with what to do."""
    return _ADVICE.get(error.errno or 0, "Check the path, or give a folder on another disk.")


def reason(error: OSError) -> str:
    """error (OSError): any. RETURNS (str): what happened, without its number."""
    return error.strerror or str(error)
