"""Queries on what requesters are told: notifications, and e-mails on their way."""
