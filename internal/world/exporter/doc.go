// Package exporter simulates dcgm-exporter: an HTTP server on every GPU node's address with the
// text exposition of the node's GPUs and all families of the exporter's default counters.
//
// It owns the listeners and follows the world: an exporter that is down refuses connections, a
// stale one serves its last reading with old timestamps. It stores no figures; every scrape reads
// a new State.
package exporter
