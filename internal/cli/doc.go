// Package cli is the command line: a package a command group, which reads flags and calls
// the packages below. Package cmdutil has what the groups share, package report prints
// runs.
package cli
