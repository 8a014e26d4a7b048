"""Read-only commands of GitHub's own program `gh`. Imported only with GITHUB_USE_GH."""
