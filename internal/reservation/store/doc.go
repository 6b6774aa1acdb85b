// Package store keeps reservations as Kubernetes objects: one Reservation each, of which
// the spec is the registry's and the status is the lease's. A change is
// written only over the version that it was made from, so that any number of brokers
// may write; the API server itself refuses a token that goes back.
//
// A copy (Cached) does not outlive a restored backup, whose versions begin anew where the
// backup ends: brokers that have one are started again after a restore.
//
// What a status has no room for of its history goes to ReservationHistory objects.
package store
