"""Tools: the catalogue, the capability search, and the graph of what follows what."""
