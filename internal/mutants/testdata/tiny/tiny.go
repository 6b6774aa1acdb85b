// Package tiny is a judge of known weakness.
package tiny

import "fmt"

// Finding is one thing wrong.
type Finding struct{ Suspect, Message string }

// Judge wants every figure to be at most the limit, and at least one of them.
func Judge(limit int, figures ...int) (found []Finding, ok bool) {
	for i, f := range figures {
		if f > limit {
			found = append(found, Finding{fmt.Sprintf("gpu%d", i), describe(f, limit)})
		}
	}
	return found, len(figures) > 0 && len(found) == 0
}

// describe only makes a text, so that none of its mutants counts.
func describe(f, limit int) string {
	text := fmt.Sprintf("%d", f)
	if f > 2*limit {
		text += " is more than twice the limit"
	}
	return text
}

// Unheld is called by no test.
func Unheld(a int) bool {
	if a < 0 {
		a = -a
	}
	return a == 1
}
