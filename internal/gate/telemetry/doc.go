// Package telemetry is gate 5: what is measured reaches those who watch. One
// fresh utilisation series per GPU of every inventory host and no other; it
// moves under a load that the gate puts on; a synthetic alert reaches a
// receiver that tells somebody.
//
// Invariants: freshness is held against Prometheus' own clock. The load takes
// free GPUs only and is gone when the gate ends; the alert ends itself even
// when the gate is killed.
package telemetry
