"""The two origins of sections: an XML core template, or a list in the agent file. Later stages do not distinguish
them.
"""
