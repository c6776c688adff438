"""What workers answer: written with its money and limits, or taken back, in one transaction."""
