// Package fabric is gate 2: one active subnet manager that every host adapter follows, every
// expected link up at its rated speed and width, and no growing error counter over a soak.
//
// Counters are judged by their increase, since healthy fabrics have old errors. The exit code
// of a tool does not decide a verdict.
package fabric
