"""The docks around the graph: thin views on a `Session`."""
