"""What the user chose."""
