// Package yamlfile reads the YAML files that reservations are run by: the
// registry, the floors, the calendar. They decide who gets scarce hardware and
// when, so they are read more strictly than other files: at most 1 MiB, one
// document, no anchors, aliases, merged blocks or tags (every value stands where
// it counts), and a text that other readers take for a number is an error. The
// rest is recipe/strict's. What is wrong comes back all at once, as a
// problem.List: file, line, column, what, and what to do.
package config
