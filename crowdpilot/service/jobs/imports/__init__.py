"""Imports: items from addresses that the operator allows, read with the credentials of the service."""
