"""Tools: the catalogue, the capability search, and the graph of what follows what."""

from cuecard.catalogue.bm25 import Bm25Ranker
from cuecard.catalogue.calibration import Calibration
from cuecard.catalogue.catalogue import Catalogue
from cuecard.catalogue.explanation import Explained, Explainer, Explanation
from cuecard.catalogue.fields import WEIGHTS, Weights
from cuecard.catalogue.graph import Edge, ToolGraph, tool_graph
from cuecard.catalogue.mixing import MixedRanker
from cuecard.catalogue.search import Ranker, SearchIndex
from cuecard.catalogue.unknown_names import KnownNames, unknown_names

__all__ = [
    "WEIGHTS",
    "Bm25Ranker",
    "Calibration",
    "Catalogue",
    "Edge",
    "Explained",
    "Explainer",
    "Explanation",
    "KnownNames",
    "MixedRanker",
    "Ranker",
    "SearchIndex",
    "ToolGraph",
    "Weights",
    "tool_graph",
    "unknown_names",
]
