"""What many hosts cost the laboratory: `hosts` has them here, `rest` measures, `merging` merges."""
