// Package logline reads the lines of a program's log as it came through
// launchers and container runtimes: it takes off timestamps, stream tags, rank
// labels and terminal colours, and says what they told.
//
// Invariants: reading is bounded in bytes and in the length of a line; a line
// that is too long is cut, never an error; bytes that are no UTF-8 pass through.
// It knows nothing of what a line means.
package logline
