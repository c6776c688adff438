"""What we claim, measured side by side with others, one command each."""
