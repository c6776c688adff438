"""What several commands share: options, reading, output."""
