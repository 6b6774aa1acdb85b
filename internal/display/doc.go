// Package display shows long work to a person: rows that change in place on a
// terminal, plain lines elsewhere. It knows nothing of what it shows.
package display
