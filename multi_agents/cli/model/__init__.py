"""The language model that the settings name: tried before it is used, and one that is there and not used."""
