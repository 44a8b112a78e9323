"""The titles in the menu bar, shown before the menus exist. Pure data."""

from app.look.words import mark

FILE, EDIT, VIEW, CHAT = mark("&File"), mark("&Edit"), mark("&View"), mark("&Chat")
MODEL, TOOLS, HELP = mark("&Model"), mark("&Tools"), mark("&Help")
TITLES = (FILE, EDIT, VIEW, CHAT, MODEL, TOOLS, HELP)
