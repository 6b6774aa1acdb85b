package buildflags

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Other flags in the Makefile compile each package twice: the build takes twice as long, and nothing fails.
func TestMakefile(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	got := regexp.MustCompile(`(?m)^export GOFLAGS.*\$\(GOFLAGS\) (.*)\)$`).FindSubmatch(raw)
	if got == nil {
		t.Fatal("the Makefile exports no GOFLAGS")
	}
	var want []string
	for _, f := range append(Flags(), Strip) {
		if strings.Contains(f, " ") {
			f = "'" + f + "'"
		}
		want = append(want, f)
	}
	if string(got[1]) != strings.Join(want, " ") {
		t.Errorf("the Makefile has %s, want %s", got[1], strings.Join(want, " "))
	}
}
