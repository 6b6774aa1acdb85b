package assertion

import (
	"testing"

	"github.com/firstlight/firstlight/internal/probe/corpus/growth"
)

// A file of n documents took n lines of padding for each of them: 256 KiB of separators took gigabytes.
func TestDocumentsAreReadInLinearTime(t *testing.T) {
	texts := append(growth.YAML(),
		growth.Text{Name: "documents with a value", Again: "a: {n}\n---\n"},
		growth.Text{Name: "documents with an error", Again: "a: [\n---\n"},
		growth.Text{Name: "separators with comments", Again: "--- # a\n"},
	)
	growth.Linear(t, "assertions", func(b []byte) { _, _ = documents("a", b) }, texts...)
}

// The lines of a document are those of its file.
func TestLinesOfLaterDocuments(t *testing.T) {
	t.Parallel()
	docs, problems := documents("a", []byte("# one\na: 1\n---\n# two\nb: 1\n--- # three\nc: 1\nc: 2\n"))
	if len(docs) != 2 || docs[1].At("b").Line != 5 || len(problems) != 1 || problems[0].Line != 8 {
		t.Errorf("%d documents, %v", len(docs), problems)
	}
}
