// Package cmdutil has what the command groups share: flags that select a cluster, a lab or
// a recipe, output formats, tables, progress and exit codes. Results go to standard
// output, progress and errors to standard error.
package cmdutil
