"""What a user asks for: frozen, checked models of a study, and the ordered list of trials it becomes.

Nothing in here touches the world: no file but the study itself, no process, no clock.
"""
