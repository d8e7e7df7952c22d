"""Pure functions from measurements and a review to a grade; sees no engine and no process."""
