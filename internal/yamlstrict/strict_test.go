package yamlstrict_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/yamlstrict"
)

type header struct {
	Kind string `yaml:"kind,omitempty" enum:"A,B"`
}

type thing struct {
	header
	Header  header            `yaml:"header,omitempty"`
	Name    string            `yaml:"name" need:"true"`
	Count   int               `yaml:"count,omitempty" min:"0"`
	On      *bool             `yaml:"on,omitempty"`
	Labels  map[string]string `yaml:"labels,omitempty"`
	Parts   []part            `yaml:"parts,omitempty"`
	Refs    []string          `yaml:"refs,omitempty"`
	Values  map[string]any    `yaml:"values,omitempty"`
	Free    any               `yaml:"free,omitempty"`
	Ignored string            `yaml:"-"`
}

type part struct {
	Name string `yaml:"name" need:"true"`
	Type string `yaml:"type,omitempty" enum:"Helm,Kustomize"`
}

func decode(text string) (thing, diag.List) {
	var v thing
	doc, problems := yamlstrict.Parse("f.yaml", []byte(text))
	if doc != nil {
		problems = append(problems, doc.Decode(&v)...)
	}
	return v, problems.Sort()
}

func TestDecode(t *testing.T) {
	t.Parallel()
	got, problems := decode(`
name: &n x
count: 0x10
on: false
labels: {a: *n, b: "1"}
parts: [{name: p, type: Helm}]
refs: [a, b]
values: &v {nested: {deep: [1, 2.5, true, null, text, 2026-01-01]}, 8080: port}
free:
  <<: [{a: 1, b: 1}, {b: 2, c: 2}]
  a: 3
`)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	off := false
	want := thing{
		Name: "x", Count: 16, On: &off, Labels: map[string]string{"a": "x", "b": "1"},
		Parts: []part{{Name: "p", Type: "Helm"}}, Refs: []string{"a", "b"},
		Values: map[string]any{
			"nested": map[string]any{"deep": []any{int64(1), 2.5, true, nil, "text", "2026-01-01"}}, "8080": "port",
		},
		Free: map[string]any{"a": int64(3), "b": int64(1), "c": int64(2)},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(thing{}), cmp.AllowUnexported(header{})); diff != "" {
		t.Error(diff)
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("a: {", 70) + strings.Repeat("}", 70)
	var lines strings.Builder
	lines.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 8; i++ {
		fmt.Fprintf(&lines, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	bomb := lines.String()
	tests := []struct{ name, text, want string }{
		{"no YAML", "name: x\n  count: [", "f.yaml:2:1: error"},
		{"empty", "", "f.yaml: error: empty file [document]"},
		{"comments alone", "# nothing\n", "[document]"},
		{"two documents", "name: x\n---\nname: y\n", "f.yaml:2:1: error: file has more than one document"},
		{"binary", "name: \xff", "not UTF-8"},
		{"a list", "- name: x", "f.yaml:1:1: error: must be a mapping, not a list [wrong-type]"},
		{"typo in a key", "name: x\ncuont: 3", "f.yaml:2:1: error: unknown key \"cuont\" [unknown-key]\n    did you mean \"count\"?"},
		{"unknown key", "name: x\nparts: [{name: a, weight: 3}]", "f.yaml:2:19: error: unknown key \"weight\""},
		{"twice", "name: x\nname: y", "f.yaml:2:1: error: duplicate key \"name\", first at line 1 [duplicate-key]"},
		{"twice in values", "name: x\nvalues:\n  a: 1\n  a: 2", "f.yaml:4:3: error"},
		{"missing", "count: 3", "f.yaml:1:1: error: missing key \"name\" [missing]"},
		{"empty value", "name:\ncount: 3", "empty key \"name\""},
		{"missing in a list", "name: x\nparts:\n  - type: Helm", "f.yaml:3:5: error: missing key \"name\""},
		{"empty entry", "name: x\nrefs:\n  - a\n  -", "empty list entry"},
		{"text for a number", "name: x\ncount: many", "f.yaml:2:8: error: must be an integer, not the string \"many\" [wrong-type]"},
		{"fraction for a number", "name: x\ncount: 1.5", "not the number 1.5"},
		{"less than the least", "name: x\ncount: -1", "invalid value -1: must be at least 0 [bad-value]"},
		{"text for a truth value", "name: x\non: maybe", "must be true or false, not"},
		{"text for a list", "name: x\nrefs: a", "must be a list, not the string \"a\""},
		{"list for a text", "name: [x]", "must be a string, not a list"},
		{"list for a block", "name: x\nlabels: [a]", "must be a mapping, not a list"},
		{"not in the enumeration", "name: x\nparts: [{name: a, type: helm}]", "invalid value \"helm\": want one of Helm, Kustomize [bad-value]"},
		{"in an inner block", "name: x\nheader: {kind: C}", "invalid value \"C\": want one of A, B"},
		{"a key that is a list", "name: x\nvalues:\n  ? [a]\n  : b", "must be a string, not a list"},
		{"merge of a text", "name: x\nvalues: {<<: a}", "<< must be a mapping"},
		{"too deep", deep, "too large, too deep or recursive"},
		{"anchors that multiply", bomb, "too large, too deep or recursive"},
		{"anchor in itself", "name: x\nvalues: &a {b: *a}", "too large, too deep or recursive"},
		{"number for a text", "name: 1.20", "f.yaml:1:7: warning: must be a string, but YAML reads 1.20 as the number 1.20 [unquoted]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, problems := decode(tt.text)
			if got := problems.Error(); !strings.Contains(got, tt.want) {
				t.Errorf("got\n%s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestEveryProblemAtOnce(t *testing.T) {
	t.Parallel()
	_, problems := decode("cuont: 3\nrefs: a\nparts: [{type: x}]\n")
	var rules []string
	for _, p := range problems {
		rules = append(rules, fmt.Sprintf("%d:%s", p.Line, p.Rule))
	}
	if got := strings.Join(rules, " "); got != "1:missing 1:unknown-key 2:wrong-type 3:missing 3:bad-value" {
		t.Errorf("got %s", got)
	}
}

func TestPositions(t *testing.T) {
	t.Parallel()
	doc, problems := yamlstrict.Parse("f.yaml", []byte("base: &b\n  x: 1\nspec:\n  <<: *b\n  list:\n    - name: a\n      value: 3\n"))
	if problems != nil {
		t.Fatal(problems)
	}
	tests := []struct {
		path       []string
		key, value string
		has        bool
	}{
		{nil, "1:1", "1:1", true},
		{[]string{"spec", "list"}, "5:3", "6:5", true},
		{[]string{"spec", "list", "0"}, "6:7", "6:7", true},
		{[]string{"spec", "list", "0", "value"}, "7:7", "7:14", true},
		{[]string{"spec", "list", "4", "value"}, "5:3", "6:5", false},
		{[]string{"spec", "x"}, "2:3", "2:6", true},
		{[]string{"nothing"}, "1:1", "1:1", false},
	}
	for _, tt := range tests {
		at, valueAt := doc.At(tt.path...), doc.ValueAt(tt.path...)
		if at.String() != "f.yaml:"+tt.key || valueAt.String() != "f.yaml:"+tt.value || doc.Has(tt.path...) != tt.has {
			t.Errorf("%v is at %s, its value at %s, there: %v", tt.path, at, valueAt, doc.Has(tt.path...))
		}
	}
}

func TestMap(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"a: 1": "", "[]": "must be a mapping, not a list", "3": "not the number 3"} {
		doc, problems := yamlstrict.Parse("v.yaml", []byte(text))
		if problems != nil {
			t.Fatal(problems)
		}
		_, problems = doc.Map(diag.WrongType)
		if (want == "") != (problems == nil) || !strings.Contains(problems.Error(), want) || want != "" && problems[0].Rule != diag.WrongType.Name {
			t.Errorf("%q: %v", text, problems)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		"name: x\ncount: 3\nparts: [{name: a}]", "a: &a [*a]", "? {a: b}\n: c", "<<: {a: 1}\nname: y", "- 1\n- !!binary x", "name: !!int y", "free: !!timestamp z",
		"values: {a: 0x10, b: 1e400, c: .nan, d: 99999999999999999999}", "%YAML 1.1\n---\nname: x", "labels: {<<: [{a: b}, 3]}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, before := decode(text)
		b, after := decode(text)
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("problems differ from one reading to the next:\n%s", diff)
		}
		if diff := cmp.Diff(a, b, cmp.AllowUnexported(thing{}), cmp.AllowUnexported(header{})); diff != "" {
			t.Errorf("values differ from one reading to the next:\n%s", diff)
		}
	})
}
