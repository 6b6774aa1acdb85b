// Package slo renders what Prometheus needs to watch an accepted cluster: the figures of its newest
// run as metrics, and burn-rate rules of the limits that the accepted run was judged with.
//
// Bandwidth and MFU come from the metrics of this package, since only a run of firstlight measures
// them; TTFT and TPOT come from the histograms of vLLM, since they are those of all requests.
package slo
