"""What is done to a system during a run: when an action's time has come, and who does it.

`conditions`, `figures`, `action_state` and `controller` are pure: they are told times and figures. `scaling`
makes actions of what a controller decides. `director` carries a timeline out beside the phase, on threads of
its own; `perform` knows which method of a testbed an action is, `aftermath` what is waited for after its end.
"""
