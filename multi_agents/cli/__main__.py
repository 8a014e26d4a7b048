"""`python -m multi_agents.cli` is the same as `platform-engineer`."""

from multi_agents.cli.start import main

main()
