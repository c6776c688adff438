"""Options, data and results of the commands that train or apply a classifier."""
