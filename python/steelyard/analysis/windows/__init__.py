"""What an action on a cluster that serves costs its users: windows of a run, and the measures over them.

`spans` cuts a phase into before, during and after by the acknowledged times of actions; `slices` holds
histograms by second and merges them; `again` finds when the run is steady again, `recovery` when as much
succeeds as before; `impact` what was felt until then, alone and less a control's; `losses` what was not done,
failed or came back wrong; `moved` what had to move and what it gained; `host` whether the machine was to
blame; `milestones` how long an action took; `steadiness` asks windows, not the run, for a steady state;
`coverage` sees to nodes that came and went. Arrays in, numbers out, as everywhere in `analysis`.
"""
