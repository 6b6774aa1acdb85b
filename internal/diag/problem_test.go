package diag_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/diag"
)

func TestRulesAreComplete(t *testing.T) {
	t.Parallel()
	name := regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	seen := map[string]bool{}
	for _, r := range diag.Rules() {
		if !name.MatchString(r.Name) || seen[r.Name] {
			t.Errorf("rule name %q is malformed or there twice", r.Name)
		}
		seen[r.Name] = true
		if r.Summary == "" || r.Remedy == "" {
			t.Errorf("rule %s lacks its summary or remedy", r.Name)
		}
		switch r.Severity {
		case diag.Error, diag.Warning, diag.Note:
		default:
			t.Errorf("rule %s has severity %q", r.Name, r.Severity)
		}
		if found, ok := diag.Find(r.Name); !ok || found != r {
			t.Errorf("rule %s is not found by its name", r.Name)
		}
	}
	if _, ok := diag.Find("no-such-rule"); ok {
		t.Error("a rule that is not there was found")
	}
}

func TestListSortsAndDropsWhatIsThereTwice(t *testing.T) {
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
		t.Errorf("order is %s", s)
	}
}

func TestListAsAnError(t *testing.T) {
	t.Parallel()
	warning := diag.FileName.At(diag.Pos{File: "x.yaml"}, "is named y")
	fault := diag.Type.At(diag.Pos{File: "x.yaml", Line: 3}, "is no number").With("write %d", 8)
	if err := (diag.List{warning}).Err(); err != nil {
		t.Errorf("a warning is an error: %v", err)
	}
	l := diag.List{warning, fault}
	const want = "x.yaml:3: error: is no number [wrong-type]\n    write 8"
	if err := l.Err(); err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
	if err := l.Soften(diag.Type).Err(); err != nil {
		t.Errorf("a softened error is one still: %v", err)
	}
	if l.Count(diag.Error) != 1 {
		t.Error("softening changed the list it was called on")
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
			t.Errorf("%q is taken for %q, want %q", in, got, want)
		}
	}
}
