"""What a table holds: roles of columns, layouts, names written differently, and what looks wrong."""
