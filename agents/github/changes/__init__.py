"""Changes on GitHub: shown, approved, written down, sent once. Present only with GITHUB_WRITE."""
