"""Speed, as ratios against peers or against the arithmetic itself, always within one run."""
