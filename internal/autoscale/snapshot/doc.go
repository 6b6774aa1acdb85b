// Package snapshot is what the autoscaling chain looks at, as it is stored: a Setup
// once, before anything is created, and a State for every hop. It has no
// behaviour but small questions to its own data, and does no I/O.
//
// Who observes fills a State from watches and queries; who judges is a pure
// function of a Setup and a State. The observer runs the judge on each new
// State until it says passed or the hop's deadline has passed, and records the
// last one: what is stored is what was judged.
//
// Times are those of our own clock when a watch told us (First, Deleted), so
// that steps of less than a second can be told apart; the API's own timestamps,
// with whole seconds, stand beside them (Created).
package snapshot
