"""`python -m multi_agents.platform_engineer`: run the supervisor."""

import sys

from multi_agents.platform_engineer.protocol_bindings.a2a.main import main

sys.exit(main())
