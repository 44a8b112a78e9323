"""What the next step computes, and what becomes of its rows: scheduling, drafting, sampling."""
