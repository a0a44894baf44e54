"""What code written for the classic course engines needs: their private state, their players, their game loop."""
