"""What keeps a conversation going when a part of it fails."""
