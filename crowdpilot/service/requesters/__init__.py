"""What requesters do to members and keys, how they sign in elsewhere, and what wrong keys lead to."""
