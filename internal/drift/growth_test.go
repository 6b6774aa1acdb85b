package drift

import (
	"testing"

	"github.com/firstlight/firstlight/internal/probe/corpus/growth"
)

func TestBaselinesAreReadInLinearTime(t *testing.T) {
	growth.Linear(t, "a baseline", func(b []byte) { _, _ = Parse(b) },
		growth.Text{Name: "brackets", Again: "["},
		growth.Text{Name: "figures", Head: `{"format":1,"figures":[{}`, Again: `,{"name":"a{n}","value":1}`, Tail: "]}"},
		growth.Text{Name: "headlines", Head: `{"format":1,"headlines":{"a":[]`, Again: `,"a{n}":[{"name":"b"}]`, Tail: "}}"},
		growth.Text{Name: "keys", Head: `{"a":1`, Again: `,"a{n}":1`, Tail: "}"},
		growth.Text{Name: "quotes", Again: `"`},
	)
}
