"""Items and known classes from the files that requesters upload."""
