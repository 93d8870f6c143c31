"""What a section is: its source, tier, condition and heading, who chooses it, and the layout it stands in."""
