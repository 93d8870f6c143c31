"""Sections: their source, tier, condition and heading, how they are selected, and their layout."""
