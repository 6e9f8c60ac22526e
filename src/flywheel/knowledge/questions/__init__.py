"""Questions that are kept with the answer expected, and questions that came back empty."""
