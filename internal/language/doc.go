// Package language holds the text of the project to plain technical English: comments and
// strings of Go files and of scripts, prose of documentation, comments and values of YAML files,
// text of templates. It searches for the patterns of patterns.yaml. It finds known patterns only:
// no match is necessary for plain text, and not sufficient.
package language
