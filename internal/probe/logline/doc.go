// Package logline reads the lines of a log as launchers and container runtimes pass it on. It
// removes timestamps, stream tags, rank labels and terminal colours, and returns their values.
//
// Reading is bounded in bytes and in line length. A line that is too long is truncated, which
// is not an error. Bytes that are not UTF-8 are kept. It does not interpret the text of a line.
package logline
