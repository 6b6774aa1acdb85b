// Package store keeps reservations as Kubernetes objects: one Reservation each, of which
// the spec is the registry's and the status is the lease's. A change is
// written only over the version that it was made from, so that any number of brokers
// may write; the API server itself refuses a token that goes back.
//
// A copy (Cached) is for those that read again and again. It does not outlive a restored
// backup, whose versions begin anew where the backup ends: a copy that sees a version go
// back asks the API server from then on.
//
// What a status has no room for of its history goes to ReservationHistory objects.
package store
