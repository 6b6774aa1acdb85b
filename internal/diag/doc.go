// Package diag defines diagnostics of files: a message with position (file, line, column),
// rule, severity and remedy. A List of problems is an error. The package performs no I/O.
package diag
