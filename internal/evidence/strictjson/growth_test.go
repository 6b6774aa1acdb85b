package strictjson_test

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/evidence/strictjson"
	"github.com/firstlight/firstlight/internal/probe/corpus/growth"
)

func TestDocumentsAreReadInLinearTime(t *testing.T) {
	growth.Linear(t, "strict JSON", func(b []byte) {
		var v any
		_ = strictjson.Unmarshal(b, &v) // the work is measured
	},
		growth.Text{Name: "keys", Head: `{"a":1`, Again: `,"a{n}":1`, Tail: "}"},
		growth.Text{Name: "objects", Again: `{"a":`},
		growth.Text{Name: "brackets", Again: "["},
		growth.Text{Name: "lists", Head: "[[]", Again: ",[]", Tail: "]"},
		growth.Text{Name: "numbers", Head: "[1", Again: ",1e9", Tail: "]"},
		growth.Text{Name: "digits", Again: "1"},
		growth.Text{Name: "an open string", Head: `"`, Again: "a"},
		growth.Text{Name: "escapes", Head: `"`, Again: `\u0041`, Tail: `"`},
		growth.Text{Name: "blanks", Again: " "},
		growth.Text{Name: "documents", Again: "1 "},
	)
}

// Go ends a process whose stack grows above 1 GB: nothing catches it. Depth was not bounded.
func TestDeepDocumentsAreRefused(t *testing.T) {
	t.Parallel()
	for name, piece := range map[string]string{"lists": "[", "objects": `{"a":`, "both": `[{"a":`} {
		err := strictjson.Check([]byte(strings.Repeat(piece, 1<<20)))
		if err == nil || !strings.Contains(err.Error(), "more than 10000 levels") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for depth, deep := range map[int]bool{10_000: false, 10_002: true} {
		if err := strictjson.Check([]byte(strings.Repeat("[", depth) + strings.Repeat("]", depth))); (err != nil) != deep {
			t.Errorf("%d levels: %v", depth, err)
		}
	}
}
