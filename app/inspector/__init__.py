"""Shows StepReports; of the engine it knows only its types."""
