package query_test

import (
	"testing"

	"github.com/firstlight/firstlight/internal/probe/corpus/growth"
	"github.com/firstlight/firstlight/internal/recipe/query"
)

func TestSelectorsAreReadInLinearTime(t *testing.T) {
	growth.Linear(t, "a selector", func(b []byte) { _, _ = query.Parse(string(b)) },
		growth.Text{Name: "keys", Head: "a", Again: ".a"},
		growth.Text{Name: "indices", Head: "a", Again: "[1]"},
		growth.Text{Name: "quoted keys", Head: "a", Again: `["b"]`},
		growth.Text{Name: "brackets", Head: "a", Again: "["},
		growth.Text{Name: "an open key", Head: `a["`, Again: "b"},
		growth.Text{Name: "dots", Again: "."},
	)
}
