"""The Jacobian of a root by an input, the seed that picks from it, and the gradient that it picks."""
