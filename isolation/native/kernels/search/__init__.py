"""Search kernels: templates that `isolation.compiling.specialise` copies."""
