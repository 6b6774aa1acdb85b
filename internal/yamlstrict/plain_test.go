package yamlstrict_test

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/yamlstrict"
)

func TestOddities(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, text, want string }{
		{"none", "a: 1\nb: [x, {c: \"*a\"}]\n'<<<': text # &a\n", ""},
		{"anchor and alias", "a: &x 1\nb: *x", "1:4 the anchor &x; 2:4 the alias *x"},
		{"an alias of a block is checked once", "a: &x {b: !t 1}\nc: [*x, *x]", "1:4 the anchor &x; 1:11 the tag !t; 2:5 the alias *x; 2:9 the alias *x"},
		{"merged", "a: &x {b: 1}\n<<: *x", "1:4 the anchor &x; 2:1 a merge (<<); 2:5 the alias *x"},
		{"merged without an alias", "<<: {a: 1}", "1:1 a merge (<<)"},
		{"a quoted << is a key", "\"<<\": {a: 1}", ""},
		{"tag", "a: !!str 8", "1:4 the tag !!str"},
		{"an alias for a key", "a: &k b\n*k : c", "1:4 the anchor &k; 2:1 the alias *k"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			doc, problems := yamlstrict.Parse("f", []byte(tt.text))
			if problems != nil {
				t.Fatal(problems)
			}
			var got []string
			for _, o := range doc.Oddities() {
				got = append(got, strings.TrimPrefix(o.String(), "f:")+" "+o.Feature)
			}
			if text := strings.Join(got, "; "); text != tt.want {
				t.Errorf("got  %s\nwant %s", text, tt.want)
			}
		})
	}
}
