"""What code written for the third edition needs: its states, how its players are asked, its game loop."""
