// Package component describes how to run each upstream program of a lab: pure functions from a
// Config to a Component, one file per program. It does no I/O.
//
// Invariants: every component listens on the lab's loopback address if the program can be
// configured to (Karpenter and the MPI Operator cannot); every endpoint that can require a client
// certificate does; no file outside the lab's directory is read.
package component
