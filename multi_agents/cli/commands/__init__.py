"""One file per command: what it does once its arguments are parsed."""
