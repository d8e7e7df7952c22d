"""What can be asked: frozen tasks, the catalogue that finds them, and the vocabulary of issues."""
