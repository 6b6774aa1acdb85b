// Package metric reads the metric in the background at each stage: in the exporters, in
// Prometheus and at the metrics API, with the series of the value.
//
// Invariants: a reading has the local time, so that stages are comparable. An error
// response is a reading with the error; an unreachable stage is a problem. Every read has
// a timeout.
package metric
