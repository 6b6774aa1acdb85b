// Package display shows long work to a person: rows that change in place on a
// terminal, plain lines elsewhere. It does not interpret the content.
package display
