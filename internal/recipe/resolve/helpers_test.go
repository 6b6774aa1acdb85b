package resolve_test

import (
	"testing"

	selector "github.com/firstlight/firstlight/internal/recipe/query"
)

func selected(t testing.TB, doc map[string]any, text string) any {
	t.Helper()
	p, err := selector.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	v, err := selector.Select(doc, p)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
