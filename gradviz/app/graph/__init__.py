"""The middle of the window: the graph, its caption, the time line."""
