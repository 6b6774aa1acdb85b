// Package promote decides whether a commit qualifies as a release candidate: whether its
// records show that every recipe of the commit was tested as committed, by the harness of the
// commit, and passed. Checks on real hardware are listed; those that are required must have
// passed. It performs no I/O.
package promote
