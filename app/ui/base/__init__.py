"""Widgets and helpers shared by the folders of the UI: actions, notices, setting controls, small buttons."""
