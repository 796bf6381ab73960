"""The HTTP API: reads, writes, streams, and the models of request bodies."""
