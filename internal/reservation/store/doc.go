// Package store persists reservations as Kubernetes objects: one Reservation each, whose spec
// comes from the registry and whose status is the lease record. A change is written only over the
// version that it is based on, so that any number of brokers may write. The API server itself
// refuses a token that goes back.
//
// A watched copy (Cached) serves frequent reads. A copy does not survive a restored backup, whose
// versions start again at the backup: if a version goes back, every read goes to the API server
// from then on.
//
// Older history moves from the status to ReservationHistory objects.
package store

//go:generate go tool -modfile=../../../tools/go.mod deepcopy-gen --output-file zz_generated.deepcopy.go . ../lease ../matrix
