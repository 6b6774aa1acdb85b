package site_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// TestTODOsAreRefused: a comment that begins with TODO marks a value that is not confirmed.
func TestTODOsAreRefused(t *testing.T) {
	t.Parallel()
	example := string(site.Example())
	replaced := func(old, with string) string {
		t.Helper()
		if !strings.Contains(example, old) {
			t.Fatalf("the example has no %q", old)
		}
		return strings.Replace(example, old, with, 1)
	}
	at := func(text string) int {
		before, _, _ := strings.Cut(example, text)
		return 1 + strings.Count(before, "\n")
	}
	for name, tt := range map[string]struct {
		text string
		line int // 0: valid
	}{
		"none":               {example, 0},
		"after a value":      {replaced("    user: root\n", "    user: root  # TODO: confirm\n"), at("    user: root\n")},
		"after an item":      {replaced("rack: r1}\n", "rack: r1} # TODO\n"), at("rack: r1}\n")},
		"above a key":        {replaced("facility:\n", "# TODO: the room\nfacility:\n"), at("facility:\n")},
		"at the end":         {example + "\n# TODO: more\n", 1 + strings.Count(example, "\n") + 1},
		"a text that has it": {replaced(`"The capital of France is"`, `"Finish: # TODO: the capital of France is"`), 0},
		"another comment":    {replaced("    user: root\n", "    user: root  # not a TODO\n"), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := site.Parse("s.yaml", []byte(tt.text))
			if tt.line == 0 {
				if err != nil {
					t.Error(err)
				}
				return
			}
			invalid, ok := errors.AsType[*site.InvalidError](err)
			if !ok || len(invalid.Problems) != 1 || invalid.Problems[0].Line != tt.line || !strings.HasPrefix(invalid.Problems[0].Message, "TODO") {
				t.Errorf("%v, want a TODO at line %d", err, tt.line)
			}
		})
	}
	p, err := profile.Load("h100-sxm-ndr400")
	if err != nil {
		t.Fatal(err)
	}
	// the site of a run that is already evidence
	if _, err := site.ParseGroups("site.yaml", []byte(replaced("    user: root\n", "    user: root  # TODO: later\n")), p, nil); err != nil {
		t.Error(err)
	}
}
