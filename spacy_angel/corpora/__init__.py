"""Documents with mentions: file formats and preprocessing."""
