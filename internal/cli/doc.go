// Package cli is the command line: one file a subcommand; flags in, calls out,
// no logic. Results go to standard output, progress and errors to standard
// error, and the exit code says how it ended (see exit.go).
package cli
