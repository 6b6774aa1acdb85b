package yamlstrict_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	kubeyaml "sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/probe/corpus/growth"
	"github.com/firstlight/firstlight/internal/yamlstrict"
)

// texts are hostile documents, and those with the keys of thing.
func texts() []growth.Text {
	return append(growth.YAML(),
		growth.Text{Name: "unknown keys", Head: "name: x\n", Again: "labelz{n}: 1\n"},
		growth.Text{Name: "labels", Head: "name: x\nlabels:\n", Again: "  a{n}: b\n"},
		growth.Text{Name: "one label", Head: "name: x\nlabels:\n", Again: "  a: b\n"},
		growth.Text{Name: "parts", Head: "name: x\nparts:\n", Again: "- {name: a, type: b}\n"},
		growth.Text{Name: "parts without a name", Head: "name: x\nparts:\n", Again: "- {type: b}\n"},
		growth.Text{Name: "empty parts", Head: "name: x\nparts:\n", Again: "-\n"},
		growth.Text{Name: "a long unknown key", Again: "k", Tail: ": 1\n"},
	)
}

func TestDocumentsAreReadInLinearTime(t *testing.T) {
	growth.Linear(t, "strict YAML", func(b []byte) {
		_, problems := decode(string(b))
		_ = problems.Error()
		if doc, _ := yamlstrict.ParseFirst("f", b); doc != nil {
			_, _ = doc.Value()
		}
	}, texts()...)
	growth.Linear(t, "yaml/v3 behind its guard", func(b []byte) {
		var v struct {
			Labels map[string]string
			Parts  []part
			A      []string
		}
		var free any
		if yamlstrict.Unique(b) == nil {
			_, _ = yaml.Unmarshal(b, &v), yaml.Unmarshal(b, &free)
		}
	}, texts()...)
	growth.Linear(t, "sigs.k8s.io/yaml behind its guard", func(b []byte) {
		var v map[string]any
		if yamlstrict.Bounded(b) == nil {
			_, _ = kubeyaml.Unmarshal(b, &v), kubeyaml.UnmarshalStrict(b, &v)
		}
	}, texts()...)
}

// The libraries need the guards: without them, repeated keys and aliases of a long text take memory that grows with the
// square of the text. With a newer library this test may fail: remove the guard then.
func TestLibrariesNeedTheGuards(t *testing.T) {
	for name, tt := range map[string]struct {
		read  func([]byte) error
		guard func([]byte) error
		text  func(size int) string
		want  string
		most  int // size of the text for the guard
	}{
		"keys": {
			func(b []byte) error { var v any; return yaml.Unmarshal(b, &v) }, yamlstrict.Unique,
			func(size int) string { return strings.Repeat("a: 1\n", size/5) }, `line 2: mapping key "a" already defined at line 1`, 8 << 10,
		},
		"aliases": {
			func(b []byte) error { _, err := kubeyaml.YAMLToJSON(b); return err }, yamlstrict.Bounded,
			func(size int) string {
				return fmt.Sprintf("a: &a %s\nb: [%s*a]\n", strings.Repeat("x", size/2), strings.Repeat("*a,c,", size/10))
			}, "line 1: document is too large, too deep or recursive", 64 << 10,
		},
	} {
		small, large := allocated(tt.read, tt.text(1<<10)), allocated(tt.read, tt.text(8<<10))
		if ratio := float64(large) / float64(small); ratio <= growth.Most {
			t.Errorf("%s: eight times the text is %.1f times the memory of the library only", name, ratio)
		}
		if err := tt.guard([]byte(tt.text(tt.most))); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: the guard returns %v, want %q", name, err, tt.want)
		}
	}
}

func allocated(read func([]byte) error, text string) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_ = read([]byte(text)) // the memory is measured
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// The guards let through what people write.
func TestGuardsAllow(t *testing.T) {
	t.Parallel()
	var keys strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&keys, "a%d: 1\n", i)
	}
	for name, tt := range map[string]struct{ text, unique, bounded string }{
		"anchors":          {"a: &a {b: 1}\nc: *a\nd: {<<: *a, e: 2}\n", "", ""},
		"documents":        {"a: 1\n---\na: 2\n", "", ""},
		"no YAML":          {"a: [", "", ""},
		"nothing":          {"", "", ""},
		"one key":          {"a: 1\nb: {c: 1, c: 2}\n", `line 2: mapping key "c" already defined at line 2`, ""},
		"in the second":    {"a: 1\n---\nb: 1\nb: 2\n", `line 4: mapping key "b" already defined at line 3`, ""},
		"as many keys":     {keys.String(), "", ""},
		"too many keys":    {keys.String() + "b: 1\n", "line 1: mapping has more than 2000 keys", ""},
		"many directives":  {"# a" + strings.Repeat("\n%TAG ! b", 101), "more than 100 tag directives", "more than 100 tag directives"},
		"a recursive list": {"a: &a [*a]\n", "too deep or recursive", "too deep or recursive"},
	} {
		for guard, check := range map[string]struct {
			of   func([]byte) error
			want string
		}{"unique": {yamlstrict.Unique, tt.unique}, "bounded": {yamlstrict.Bounded, tt.bounded}} {
			err := check.of([]byte(tt.text))
			if (err == nil) != (check.want == "") || err != nil && !strings.Contains(err.Error(), check.want) {
				t.Errorf("%s: %s: %v, want %q", name, guard, err, check.want)
			}
		}
	}
}

func TestParseAfter(t *testing.T) {
	t.Parallel()
	doc, problems := yamlstrict.ParseAfter("f", 10, []byte("a: &a {b: 1}\nc: *a\n"))
	if problems != nil || doc.At("c").Line != 12 || doc.At("c", "b").Line != 11 {
		t.Errorf("%v, lines %d and %d", problems, doc.At("c").Line, doc.At("c", "b").Line)
	}
	if _, problems = yamlstrict.ParseAfter("f", 10, []byte("a: [\n")); len(problems) != 1 || problems[0].Line < 11 {
		t.Errorf("%v", problems)
	}
}
