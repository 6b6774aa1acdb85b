package diag_test

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/diag"
)

func TestListSortDropsDuplicates(t *testing.T) {
	t.Parallel()
	at := func(file string, line int) diag.Problem {
		return diag.UnknownKey.At(diag.Pos{File: file, Line: line, Column: 1}, "unknown key")
	}
	got := diag.List{at("b", 1), at("a", 10), at("a", 2), at("a", 10)}.Sort()
	var order []string
	for _, p := range got {
		order = append(order, p.Pos.String())
	}
	if s := strings.Join(order, " "); s != "a:2:1 a:10:1 b:1:1" {
		t.Errorf("got order %s", s)
	}
}

func TestListAsError(t *testing.T) {
	t.Parallel()
	warning := diag.Unquoted.At(diag.Pos{File: "x.yaml"}, "quote it")
	fault := diag.WrongType.At(diag.Pos{File: "x.yaml", Line: 3}, "must be a number").With("write %d", 8)
	if err := (diag.List{warning}).Err(); err != nil {
		t.Errorf("a warning is an error: %v", err)
	}
	l := diag.List{warning, fault}
	const want = "x.yaml:3: error: must be a number [wrong-type]\n    write 8"
	if err := l.Err(); err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
	if err := l.Soften(diag.WrongType).Err(); err != nil {
		t.Errorf("a softened error is still an error: %v", err)
	}
	if l.Count(diag.Error) != 1 {
		t.Error("Soften modified its receiver")
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	words := []string{"dependencyRefs", "componentRefs", "valuesFile", "version"}
	for in, want := range map[string]string{
		"dependencyRef": "dependencyRefs", "componentrefs": "componentRefs", "valuseFile": "valuesFile",
		"vershun": "version", "": "", "x": "", "values": "", "version": "version",
	} {
		if got := diag.Nearest(in, words); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", in, got, want)
		}
	}
}
