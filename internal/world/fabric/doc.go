// Package fabric is the simulated InfiniBand fabric: a rail-optimised
// leaf/spine topology, its links, error counters and subnet managers. It owns
// the shape and the figures of the network; what breaks it is decided by the
// world. Everything is a pure function of its arguments: no clock, no I/O.
package fabric
