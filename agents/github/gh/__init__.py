"""Read-only commands of GitHub's own program `gh`. Present only with GITHUB_USE_GH."""
