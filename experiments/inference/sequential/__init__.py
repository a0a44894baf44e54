"""Sequential inference: SPRT, confidence sequences, elimination."""
