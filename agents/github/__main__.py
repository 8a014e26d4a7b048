"""`python -m agents.github` serves the GitHub agent."""

from agents.github.agent import GitHubAgent
from utils.a2a_common.server.serve import serve

_PORT = 8001
"""Its port where neither `--port` nor `PORT` names one."""

if __name__ == "__main__":
    raise SystemExit(serve(GitHubAgent, default_port=_PORT))
