package checktest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
)

var write = flag.Bool("spoilt", false, "write the outcomes of spoilt observations to testdata")

// Harmless are changes that do no harm, by the reason why: regular expressions of
// "kind@target .path: change", the path without indices.
type Harmless map[string][]string

// index matches an index in a path.
var index = regexp.MustCompile(`\[(?:0|last)\]`)

// overclaim are words that say more than a list of observations can show. The reason of a pass
// counts and names instead: "all 4 pods".
var overclaim = regexp.MustCompile(`\b(all [a-z]+ of|every|everything|healthy|identical|fully|proven)\b`)

// EveryField judges observations with one spoilt field and compares the outcomes with
// testdata/NAME.txt, which -spoilt writes: verdict, suspects, evidence, number of figures, and
// figures beyond their limit. The unchanged observations must pass. A spoilt field that passes
// must be in harmless, and each entry of harmless must pass at least once. A Sample limits the
// number of fields.
func EveryField(t *testing.T, name string, judge func([]check.Observation) check.Judgement, healthy []check.Observation, harmless Harmless, samples ...Sample) {
	t.Helper()
	j := judge(healthy)
	if j.Verdict != check.Passed {
		t.Fatalf("the healthy observations are %s: %s: %+v", j.Verdict, j.Reason, j.Findings)
	}
	if word := overclaim.FindString(j.Reason); word != "" {
		t.Errorf("the reason of a pass says %q, which no observation shows: %s", word, j.Reason)
	}
	reasons := compile(t, harmless)
	used := map[string]bool{}
	var lines lines
	lines.figures(j.Figures)
	spoilt, all := spoils(samples)
	for _, s := range spoil(t, healthy, spoilt) {
		j := judge(s.obs)
		if j.Verdict == check.Passed {
			what := index.ReplaceAllString(s.where, "") + ": " + s.change
			known := false
			for text, re := range reasons {
				if re.MatchString(what) {
					known, used[text] = true, true
				}
			}
			if !known {
				t.Errorf("passed: %s: %s", s.where, s.change)
			}
		}
		lines.add(s, j)
	}
	for text := range reasons {
		if all && !used[text] {
			t.Errorf("%q is declared harmless and never passes", text)
		}
	}
	hold(t, filepath.Join("testdata", name+".txt"), lines.String(), spoilt)
}

func compile(t *testing.T, harmless Harmless) map[string]*regexp.Regexp {
	t.Helper()
	out := map[string]*regexp.Regexp{}
	for why, patterns := range harmless {
		for _, text := range patterns {
			re, err := regexp.Compile("^(?:" + text + ")$")
			if err != nil || why == "" {
				t.Fatalf("%q: %v, reason %q", text, err, why)
			}
			out[text] = re
		}
	}
	return out
}

// hold compares with the lines of a file that are of spoilt fields, or writes it.
func hold(t *testing.T, file, text string, spoilt func(where string) bool) {
	t.Helper()
	if *write {
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(linesOf(string(want), spoilt), linesOf(text, spoilt)); diff != "" {
		t.Errorf("%s (go test -spoilt writes it):\n%s", file, diff)
	}
}

// lines is the table: changes of one field with one outcome are one line.
type lines struct {
	b                    strings.Builder
	where, outcome, done string
}

func (l *lines) figures(figures []check.Figure) {
	for _, f := range figures {
		fmt.Fprintf(&l.b, "figure %s: %.6g %s", f.Name, f.Value, f.Unit)
		if f.Relation != "" {
			fmt.Fprintf(&l.b, " %s %.6g", f.Relation, f.Limit)
		}
		fmt.Fprintln(&l.b)
	}
}

func (l *lines) add(s spoilt, j check.Judgement) {
	var b strings.Builder
	b.WriteString(string(j.Verdict))
	if names := suspects(j); len(names) > 0 {
		b.WriteString(": " + strings.Join(names, ", "))
	}
	if ids := evidence(j); ids != "" {
		b.WriteString(" (" + ids + ")")
	}
	fmt.Fprintf(&b, ", %d figures", len(j.Figures))
	for _, f := range j.Figures {
		if met, err := f.Meets(); !met || err != nil {
			fmt.Fprintf(&b, ", %s %.6g", f.Name, f.Value)
		}
	}
	outcome := b.String()
	if s.where != l.where || outcome != l.outcome {
		l.end()
		l.where, l.outcome = s.where, outcome
	} else {
		l.done += ", "
	}
	l.done += s.change
}

func (l *lines) end() {
	if l.done != "" {
		fmt.Fprintf(&l.b, "%s: %s -> %s\n", l.where, l.done, l.outcome)
	}
	l.done = ""
}

func (l *lines) String() string {
	l.end()
	return l.b.String()
}

// evidence is how many observations the findings name, or which it is where it is one.
func evidence(j check.Judgement) string {
	var ids []string
	for _, f := range j.Findings {
		for _, id := range f.Observations {
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	if slices.Contains(ids, "") {
		return "an observation without an ID"
	}
	if len(ids) > 1 {
		return fmt.Sprintf("%d observations", len(ids))
	}
	return strings.Join(ids, "")
}

// suspects of the findings, each once, in order; six at most.
func suspects(j check.Judgement) []string {
	const most = 6
	var out []string
	seen := map[string]bool{}
	for _, f := range j.Findings {
		if !seen[f.Suspect] {
			seen[f.Suspect] = true
			out = append(out, f.Suspect)
		}
	}
	if len(out) > most {
		out = append(out[:most], fmt.Sprintf("%d more", len(out)-most))
	}
	return out
}
