"""`python -m agents.github` serves the GitHub agent."""

from agents.github.agent import GitHubAgent
from utils.a2a_common.serve import serve

if __name__ == "__main__":
    raise SystemExit(serve(GitHubAgent))
