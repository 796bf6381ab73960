"""Results larger than memory: in parts of whole events, and as datasets of many pools, which executors share."""
