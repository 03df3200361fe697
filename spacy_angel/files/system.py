"""Advice on file system errors."""

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
    """error (OSError): a file system error. RETURNS (str): a sentence on how to resolve it."""
    return _ADVICE.get(error.errno or 0, "Check the path, or give a folder on another disk.")


def reason(error: OSError) -> str:
    """error (OSError): any error. RETURNS (str): its description, without the error number."""
    return error.strerror or str(error)
