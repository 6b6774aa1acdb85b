// Package snapshot holds the stored observations of the autoscaling chain: one Setup,
// before anything is created, and one State for every hop. It does no I/O.
//
// The observer fills a State from watches and queries. A judge is a pure function of a
// Setup and a State. The observer calls the judge with each new State until it passes or
// the hop's deadline is over, and records the last State: the one that was judged.
//
// First and Deleted are local times of watch events, with sub-second resolution. Created
// is the API's timestamp, in whole seconds.
package snapshot
