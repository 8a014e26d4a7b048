"""`python -m agents.template` serves the template agent."""

from agents.template.agent import TemplateAgent
from utils.a2a_common.server.serve import serve

_PORT = 8009
"""The port when neither `--port` nor `PORT` is set."""

if __name__ == "__main__":
    raise SystemExit(serve(TemplateAgent, default_port=_PORT))
