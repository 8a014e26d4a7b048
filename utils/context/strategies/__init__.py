"""The stages of the pipeline, one a file. Messages in, messages out."""
