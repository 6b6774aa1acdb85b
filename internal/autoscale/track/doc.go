// Package track watches what belongs to a run of the chain and keeps what it saw:
// objects by UID, also those that are gone, with the times of our own clock.
//
// It watches from before anything is created. Nothing of what the API sends is
// kept as it came: each object becomes the few fields of package seen. What could
// not be watched is a problem by name, never an absence.
//
// Invariants: an object's First is set once; a condition's Seen changes with its
// status only; what is gone stays, with Deleted set. Every goroutine ends before
// Stop returns.
package track
