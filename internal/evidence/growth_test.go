package evidence

import (
	"testing"

	"github.com/firstlight/firstlight/internal/probe/corpus/growth"
)

func TestFilesAreReadInLinearTime(t *testing.T) {
	texts := []growth.Text{
		{Name: "lines", Again: "\n"},
		{Name: "brackets", Again: "["},
		{Name: "entries", Again: `{"seq":1,"type":"begun"}` + "\n"},
		{Name: "an open entry", Head: `{"step":"`, Again: "a"},
		{Name: "files", Head: `{"files":[{}`, Again: `,{"path":"a{n}"}`, Tail: "]}"},
		{Name: "keys", Head: `{"a":1`, Again: `,"a{n}":1`, Tail: "}"},
	}
	growth.Linear(t, "a journal", func(b []byte) { _, _, _ = parseJournal(b) }, texts...)
	growth.Linear(t, "a manifest", func(b []byte) { _, _ = decodeManifest(b) }, texts...)
}
