// Package track watches the objects of a run and keeps their history: objects by UID,
// including deleted ones, with local times.
//
// It starts before anything is created. Only the fields of package snapshot are kept. A
// source that cannot be watched is a problem by name, never an absence.
//
// Invariants: an object's First is set once; a condition's Seen changes only with its
// status; deleted objects stay, with Deleted set. Every goroutine ends before Stop returns.
package track
