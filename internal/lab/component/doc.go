// Package component says how each upstream program of a lab is run: a pure
// function from a Config to a Component, one file a program. It does no I/O.
//
// Invariants: everything listens on the lab's own loopback address where the
// program can be told to (Karpenter and the MPI Operator cannot, see
// there); every interface that can demand a certificate does; nothing is
// read from outside the lab's directory. What a flag is for stands beside it where the program's
// own help does not say.
package component
