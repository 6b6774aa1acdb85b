// Package metric reads the metric on its way: in the exporters, in Prometheus, at
// the metrics API, each as often as Prometheus scrapes, in the background; and
// what the value is made of.
//
// Invariants: a reading's time is our own clock's, so that readings of different
// places can be told apart. An answer that is no value is a reading with the
// reason; a place that cannot be asked at all is a problem. Every look is bounded.
package metric
