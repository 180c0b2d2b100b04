"""Scripts that make what is kept in the checkout: run by make targets."""
