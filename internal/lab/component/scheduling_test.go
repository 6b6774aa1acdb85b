package component

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/golden"
)

func schedulingConfig() Config { return configFor(Scheduling) }

func configFor(p Purpose) Config {
	c := config()
	c.Purpose = p
	c.Tokens = map[string]string{}
	for _, identity := range c.Purpose.TokenUsers() {
		c.Tokens[identity] = "token-of-" + identity
	}
	return c
}

func TestGoldensOfScheduling(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	for _, c := range All(schedulingConfig()) {
		all.WriteString("== " + c.Name + "\n" + text(c))
	}
	golden.Compare(t, "testdata/scheduling.golden", all.String())
}

// A lab for scheduling has a subset of the base components with other settings. No flag is
// repeated, because programs differ in which one counts.
func TestSchedulingIsSubset(t *testing.T) {
	t.Parallel()
	var names []string
	known := map[string]bool{}
	for _, c := range All(schedulingConfig()) {
		names = append(names, c.Name)
		for _, n := range c.Needs {
			if !known[n] {
				t.Errorf("%s needs %s, which does not come before it", c.Name, n)
			}
		}
		known[c.Name] = true
		flags := map[string]bool{}
		for _, a := range c.Argv {
			name, _, _ := strings.Cut(a, "=")
			if flags[name] {
				t.Errorf("%s: %s is repeated", c.Name, name)
			}
			flags[name] = true
		}
		for path, content := range c.Files {
			if filepath.Ext(path) != ".yaml" {
				continue
			}
			for doc := range strings.SplitSeq(content, "\n---\n") {
				var v map[string]any
				if err := yaml.UnmarshalStrict([]byte(doc), &v); err != nil {
					t.Errorf("%s: %s: %v", c.Name, filepath.Base(path), err)
				}
			}
		}
	}
	if want := []string{Etcd, APIServer, ControllerManager, Scheduler}; !slices.Equal(names, want) {
		t.Errorf("a lab for scheduling has %v, want %v", names, want)
	}
}

func TestFlags(t *testing.T) {
	t.Parallel()
	argv := []string{"--a=1", "--b=2", "--bb=3"}
	if got := with(argv, "--b=4", "--c=5"); !slices.Equal(got, []string{"--a=1", "--b=4", "--bb=3", "--c=5"}) {
		t.Errorf("with: %v", got)
	}
	if got := without(argv, "--b", "--x"); !slices.Equal(got, []string{"--a=1", "--bb=3"}) {
		t.Errorf("without: %v", got)
	}
	if !slices.Equal(argv, []string{"--a=1", "--b=2", "--bb=3"}) {
		t.Errorf("the input flags are changed: %v", argv)
	}
}
