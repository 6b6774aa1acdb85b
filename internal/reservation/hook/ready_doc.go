// Package readiness says when what was provisioned is ready: when so many passes in a row
// saw the same nodes (by identity, not by number), all Ready, none cordoned, with the GPUs
// that are expected, and what else was asked for held. Any regression starts the count
// again, and says why: a node that joins late, is replaced by one of the same name, is
// cordoned or flaps.
//
// Judge is pure: a count, a look, an expectation. Await looks, within a deadline, and keeps
// a line of JSON of every attempt.
package hook
