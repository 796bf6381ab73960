"""Events of two lone entrants: rules for them, and the kernels that rate runs of them."""
