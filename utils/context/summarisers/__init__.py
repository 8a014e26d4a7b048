"""Ways to make text shorter: with a model through LangMem, or by extract."""
