"""The rules of an episode, one module a family: which actions there are, what they cost, when it ends."""
