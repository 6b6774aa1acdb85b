// Package diag holds diagnostics: what is wrong with a file, with its place (file, line,
// column), the rule that says so, and a remedy. A List of problems is an error. The package
// does no I/O.
package diag
