// Package language holds the text of the project to plain technical English: comments and
// strings of Go files, prose of documentation, comments of YAML files and shell scripts. It searches for
// the patterns of patterns.yaml. It finds known patterns only: no match is necessary for
// plain text, and not sufficient.
package language
