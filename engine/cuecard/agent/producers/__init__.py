"""Where sections come from: an XML core, a list in the agent file. From here on nobody asks which it was."""
