// Package metrics shows the store of reservations to Prometheus: who has what, who waits,
// what happened, and what came of the hand-overs. All of it is read from the store at
// each collection, so every replica of a controller, and one that was just started, tells
// the same. When the store can't be read there is firstlight_reservation_store_up 0, an
// error, and nothing else: an old figure is not told again, and none is taken for 0.
//
// Series are bounded by the registry and the schedule: some thirty a reservation. A holder
// is a label of one series a reservation; what a lease is for is free text, and is not told.
package report
