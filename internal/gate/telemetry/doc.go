// Package telemetry is gate 5: metrics and alerts arrive. Prometheus has exactly one fresh
// utilisation series for each GPU of every inventory host; it follows a load that the gate
// starts; a synthetic alert reaches a receiver with an integration.
//
// Invariants: freshness is measured with Prometheus' clock. The load uses free GPUs only and is
// deleted when the gate ends; the alert expires even if the gate is killed.
package telemetry
