package preflight

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// require holds lines to one wanted line each, "RESULT WHAT TARGET: part of the observation", in order.
// Lines that are ok are left out. Each of them must have a remedy.
func require(t *testing.T, name string, lines []Line, want ...string) {
	t.Helper()
	var got []string
	for _, l := range lines {
		if l.Result == OK {
			if l.Remedy != "" || l.Observed == "" || l.Check == "" || l.Target == "" {
				t.Errorf("%s: incomplete: %+v", name, l)
			}
			continue
		}
		got = append(got, string(l.Result)+" "+l.Check+" "+l.Target+": "+l.Observed)
		if l.Remedy == "" {
			t.Errorf("%s: no remedy: %+v", name, l)
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%s: %q, want %q", name, got, want)
	}
	for i, w := range want {
		head, seen, _ := strings.Cut(w, ": ")
		if !strings.HasPrefix(got[i], head+": ") || !strings.Contains(got[i], seen) {
			t.Errorf("%s: %q, want %q", name, got[i], w)
		}
	}
}

func TestOverall(t *testing.T) {
	t.Parallel()
	line := func(r Result) Line { return Line{Result: r} }
	for name, tt := range map[string]struct {
		lines []Line
		want  Result
	}{
		"nothing":        {nil, Unobserved},
		"ok":             {[]Line{line(OK)}, OK},
		"one not seen":   {[]Line{line(OK), line(Unobserved), line(OK)}, Unobserved},
		"both":           {[]Line{line(Unobserved), line(WouldStop), line(OK)}, WouldStop},
		"without result": {[]Line{line(OK), {}}, Unobserved},
	} {
		if got := overall(tt.lines); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// requireAll requires the lines, as "result check target: observed".
func requireAll(t *testing.T, name string, lines []Line, want ...string) {
	t.Helper()
	var got []string
	for _, l := range lines {
		got = append(got, string(l.Result)+" "+l.Check+" "+l.Target+": "+l.Observed)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: %s", name, diff)
	}
}
