"""One A2A agent at one address, ours or a foreign one, as the commands see it."""
