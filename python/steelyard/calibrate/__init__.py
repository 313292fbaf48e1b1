"""How far the engine's figures are from the truth, on this machine.

Servers with a known latency law (crates/fakes) write down when each request came and when its answer left;
due times follow from the plan. From both, the truth is made here by sorting, without any code of the engine,
and the engine's percentiles are held against it.

`draws`, `laws` what the servers do · `truth` what is true · `cells` what is tried · `fakes`, `drive` doing
it · `judge` one cell against the truth · `limit` how fast the client can be · `conduct` all of it, in order
· `text` the certificate for people. The certificate's file is `steelyard.results.certificates`.
"""
