// Package batch does the nightly work at one reservation: the cells of its leg, in turn,
// each under a lease of its own. Cells of two reservations know nothing of each other.
//
// Before anything is stood up, nothing may stand: the guard looks under the lease, and what
// it finds ends the lease and leaves the reservation to whoever takes it down by hand. Where it
// can't look, it takes that for something that stands. The leg waits in the queue meanwhile, and
// goes on with the same cell.
//
// A cell is written down before each step, so whoever goes on after a crash knows what was
// begun. What it stood up is taken down under the lease of cleaning, before the next
// cell gets the reservation; no two cells ever stand at once. No cell begins after the cutoff.
package controller
