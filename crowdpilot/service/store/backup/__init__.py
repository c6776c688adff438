"""Backup: all tables and the secrets in one file, from which any database of either kind is made again."""
