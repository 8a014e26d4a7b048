"""Sentences with their kinds, which the offline model's network of kinds is learnt from, and how it is learnt."""
