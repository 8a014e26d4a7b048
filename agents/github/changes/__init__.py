"""Changes on GitHub: shown, approved, recorded, sent once. Imported only with GITHUB_WRITE."""
