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
		{"empty", "", "f.yaml: error: the file is empty [document]"},
		{"comments alone", "# nothing\n", "[document]"},
		{"two documents", "name: x\n---\nname: y\n", "f.yaml:2:1: error: there is a second document"},
		{"binary", "name: \xff", "not UTF-8"},
		{"a list", "- name: x", "f.yaml:1:1: error: a block of keys is wanted, this is a list [wrong-type]"},
		{"typo in a key", "name: x\ncuont: 3", "f.yaml:2:1: error: the key \"cuont\" is unknown [unknown-key]\n    did you mean \"count\"?"},
		{"unknown key", "name: x\nparts: [{name: a, weight: 3}]", "f.yaml:2:19: error: the key \"weight\" is unknown"},
		{"twice", "name: x\nname: y", "f.yaml:2:1: error: the key \"name\" is here for the second time, first at line 1 [duplicate-key]"},
		{"twice in values", "name: x\nvalues:\n  a: 1\n  a: 2", "f.yaml:4:3: error"},
		{"missing", "count: 3", "f.yaml:1:1: error: the key \"name\" is missing [missing]"},
		{"empty value", "name:\ncount: 3", "the key \"name\" is empty"},
		{"missing in a list", "name: x\nparts:\n  - type: Helm", "f.yaml:3:5: error: the key \"name\" is missing"},
		{"empty entry", "name: x\nrefs:\n  - a\n  -", "this entry of the list is empty"},
		{"text for a number", "name: x\ncount: many", "f.yaml:2:8: error: a whole number is wanted, this is the text \"many\" [wrong-type]"},
		{"fraction for a number", "name: x\ncount: 1.5", "this is the number 1.5"},
		{"less than the least", "name: x\ncount: -1", "-1 is less than 0 [bad-value]"},
		{"text for a truth value", "name: x\non: maybe", "true or false is wanted"},
		{"text for a list", "name: x\nrefs: a", "a list is wanted, this is the text \"a\""},
		{"list for a text", "name: [x]", "a text is wanted, this is a list"},
		{"list for a block", "name: x\nlabels: [a]", "a block of keys is wanted, this is a list"},
		{"not in the enumeration", "name: x\nparts: [{name: a, type: helm}]", "\"helm\" is not one of Helm, Kustomize [bad-value]"},
		{"in an inner block", "name: x\nheader: {kind: C}", "\"C\" is not one of A, B"},
		{"a key that is a list", "name: x\nvalues:\n  ? [a]\n  : b", "a key is a list"},
		{"merge of a text", "name: x\nvalues: {<<: a}", "<< wants a block of keys"},
		{"too deep", deep, "too large or too deep"},
		{"anchors that multiply", bomb, "too large or too deep"},
		{"anchor in itself", "name: x\nvalues: &a {b: *a}", "too large or too deep"},
		{"number for a text", "name: 1.20", "f.yaml:1:7: warning: a text is wanted, and YAML takes 1.20 for the number 1.20 [unquoted]"},
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
	for text, want := range map[string]string{"a: 1": "", "[]": "holds a list, not a block of keys", "3": "holds the number 3"} {
		doc, problems := yamlstrict.Parse("v.yaml", []byte(text))
		if problems != nil {
			t.Fatal(problems)
		}
		_, problems = doc.Map()
		if (want == "") != (problems == nil) || !strings.Contains(problems.Error(), want) {
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
