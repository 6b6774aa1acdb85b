package capacity

import (
	"testing"

	"github.com/firstlight/firstlight/internal/probe/corpus/growth"
)

func TestAdditionsAreReadInLinearTime(t *testing.T) {
	texts := append(growth.YAML(),
		growth.Text{Name: "nodes", Head: "nodes:\n", Again: "- {name: a{n}}\n"},
		growth.Text{Name: "one node", Head: "nodes:\n", Again: "- {name: a, address: b}\n"},
		growth.Text{Name: "a document", Head: `{"nodes":[{}`, Again: `,{"name":"a{n}"}`, Tail: "]}"},
	)
	growth.Linear(t, "a file of nodes", func(b []byte) { _, _ = ParseFile("a", b) }, texts...)
	growth.Linear(t, "a record", func(b []byte) { _, _ = Parse(b) }, texts...)
}
