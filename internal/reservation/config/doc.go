// Package registry is the file that says which scarce capacity there is:
// reservations.yaml, one row a reservation. A row is one lease, not a pool: two
// rows over one reservation-id are two leases on the same hardware, and are
// accounted together.
//
// The format is the one in use in this field; node-count and capacities are ours
// and may be left out. Every registry, whether read or built in Go, is held
// against the same invariants by Validate. Nothing here does I/O but Load, and
// nothing here knows a cloud: what is stated is checked for being consistent,
// not for being true.
package config
