package resolve_test

import (
	"testing"

	selector "github.com/firstlight/firstlight/internal/recipe/query"
)

func selected(tb testing.TB, doc map[string]any, text string) any {
	tb.Helper()
	p, err := selector.Parse(text)
	if err != nil {
		tb.Fatal(err)
	}
	v, err := selector.Select(doc, p)
	if err != nil {
		tb.Fatal(err)
	}
	return v
}
