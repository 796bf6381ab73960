"""The HTTP API: reads, writes, streams, and the models of its bodies."""
