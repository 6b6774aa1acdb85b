// Package problem is what is wrong with a recipe tree, and the catalogue of the
// rules that say so. A Problem has a place (file, line, column), a rule and a
// remedy; a List of them is an error. It does no I/O.
package problem
