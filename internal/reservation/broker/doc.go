// Package broker carries out the steps of leases on a store. Any number of brokers,
// in any number of processes, may share one: each change is written over the version
// that it was made from, or made again.
//
// A broker believes its own monotonic clock and nobody's calendar when it judges that
// somebody is silent: it has to have watched for the whole period itself. So a broker
// that has just started gives every lease a full period, and a clock that jumps ends
// nothing. Only the end that a lease was given (its term) is a time of day.
package broker
