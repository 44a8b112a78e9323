"""One prompt over the rows of a table, in a window of its own."""
