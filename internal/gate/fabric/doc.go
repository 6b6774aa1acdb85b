// Package fabric is gate 2: one live subnet manager that every host adapter
// follows, every expected link up at its rated speed and width, and no error
// counter that grows over a soak.
//
// Counters are judged by their increase, not their value: healthy fabrics carry
// old errors. A tool's exit code decides nothing.
package fabric
