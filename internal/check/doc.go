// Package check holds the one contract that everything in firstlight is built
// on: a Check observes (does I/O, records Observations) and judges (a pure
// function of recorded Observations). It does no I/O and imports nothing of
// this module.
//
// Invariants: nothing observed is never a pass; zero items is never a pass;
// the zero Verdict is not a pass.
package check
