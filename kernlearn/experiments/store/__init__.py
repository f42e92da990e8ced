"""Results stores."""
