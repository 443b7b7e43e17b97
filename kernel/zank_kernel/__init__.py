"""Rules, beliefs, rollouts and search for two-player quarrel patience, over lanes of games in JAX."""
