"""From the texts in the code to files for Qt Linguist, and from those to what the window loads."""
