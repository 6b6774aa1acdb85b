// Package config reads the configuration files of reservations: the registry (reservations.yaml)
// and the compatibility floors (compat.yaml).
//
// A row of the registry is one lease, not a pool: two rows with one reservation-id are two leases
// on the same hardware and are accounted together. The format is the one common in this field;
// node-count and capacities are optional additions.
//
// The files decide who gets scarce hardware, so they are read more strictly than other YAML: at
// most 1 MiB, one document, no anchors, aliases, merged blocks or tags, and text that other
// readers take for a number is an error. All problems are reported at once, as a diag.List.
// Validate checks the same invariants for values built in Go. Only Load functions do I/O;
// consistency is checked, not truth.
package config
