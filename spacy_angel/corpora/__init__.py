"""Documents with mentions: every file format, preprocessing."""
