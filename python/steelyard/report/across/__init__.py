"""What several papers say of one question, and what our results say of it: `model` finds, `render` shows."""
