// Package exporter is the world's dcgm-exporter: on every GPU node's address an
// HTTP server with the text exposition of that node's GPUs, all families of the
// exporter's default counters.
//
// It owns the listeners and follows the world: a node whose exporter is down
// refuses connections, a stale one goes on serving its last reading with its
// old timestamps.
//
// It keeps no figures of its own; every scrape is a fresh State.
package exporter
