// Package broker runs the steps of leases on a store. Any number of brokers in any number of
// processes may share one store: each change is written over the version that it is based on, or
// is made again.
//
// A broker judges silence only by its own monotonic clock: it must have observed a lease for the
// whole interval itself. A broker that has just started therefore gives every lease a full
// interval, and a clock that is set ends no lease. Only the end of a term is a time of day.
package broker
