"""Options, reading of files and output that several commands share."""
