"""`python -m agents.template` serves the template agent."""

from agents.template.agent import TemplateAgent
from utils.a2a_common.server.serve import serve

_PORT = 8009
"""Its port where neither `--port` nor `PORT` names one."""

if __name__ == "__main__":
    raise SystemExit(serve(TemplateAgent, default_port=_PORT))
