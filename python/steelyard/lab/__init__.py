"""The order of things: of a study's trials, a trial's phases, a search's probes; nothing else."""
