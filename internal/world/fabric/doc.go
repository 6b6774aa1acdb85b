// Package fabric simulates an InfiniBand fabric: a rail-optimised leaf/spine topology, its links,
// error counters and subnet managers. The world injects the faults. Everything is a pure function
// of its arguments: no clock, no I/O.
package fabric
