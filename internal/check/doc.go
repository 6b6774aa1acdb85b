// Package check is the contract of every gate, hop and requirement: a Check observes (does
// I/O, records Observations) and judges (a pure function of recorded Observations). It does
// no I/O and imports no package of this module.
//
// Invariants: no observation is never a pass; zero items is never a pass; the zero Verdict
// is not a pass.
package check
