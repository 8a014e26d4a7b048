"""What a person sees of a turn."""
