package health

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/assertion"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
	"github.com/firstlight/firstlight/internal/recipe/tree"
)

// Component is one component with its assertions, as it is kept with the evidence.
type Component struct {
	// Name as in the recipe.
	Name string `json:"name"`
	// Namespace is the default namespace of objects in the file.
	Namespace string `json:"namespace,omitempty"`
	// File is the name of the assertions in messages; empty: no assertions.
	File string `json:"file,omitempty"`
	// Asserts is the file, a Chainsaw test.
	Asserts string `json:"asserts,omitempty"`
	// Files are the files that Asserts may refer to, keyed by path relative to File's directory.
	Files map[string]string `json:"beside,omitempty"`
	// Missing is the reason why the component has no assertions, if known.
	Missing string `json:"missing,omitempty"`
}

// Components are the enabled components of a recipe in deployment order, with their
// own assertions or else those of the registry. A component whose file is unreadable, or whose
// health check the recipe skips, has no assertions and fails.
func Components(r *resolve.Result) []Component {
	var out []Component
	for _, name := range r.DeploymentOrder {
		ref, ok := r.Component(name)
		if !ok || !ref.Enabled() {
			continue
		}
		c := Component{Name: ref.Name, Namespace: ref.Namespace}
		entry := r.Tree().Components[name]
		switch {
		case ref.HealthCheckSkip != nil && *ref.HealthCheckSkip:
			c.Missing = "the recipe sets healthCheckSkip"
		case ref.HealthCheckAsserts != "":
			c.File, c.Asserts = "healthCheckAsserts of "+name, ref.HealthCheckAsserts
		case entry != nil && entry.HealthCheck != nil && entry.HealthCheck.AssertFile != "":
			c.fromTree(r.Tree(), entry.HealthCheck.AssertFile)
		}
		out = append(out, c)
	}
	return out
}

func (c *Component) fromTree(t *tree.Tree, file string) {
	data, err := t.Data(file)
	if err != nil {
		c.Missing = fmt.Sprintf("cannot read %s: %s", t.Name(file), err)
		return
	}
	c.File, c.Asserts = t.Name(file), string(data)
	for _, other := range t.Paths {
		below, ok := strings.CutPrefix(other, path.Dir(file)+"/")
		if !ok || other == file || !slices.Contains([]string{".yaml", ".yml"}, path.Ext(other)) {
			continue
		}
		data, err := t.Data(other)
		if err != nil {
			c.File, c.Missing = "", fmt.Sprintf("cannot read %s: %s", t.Name(other), err)
			return
		}
		if c.Files == nil {
			c.Files = map[string]string{}
		}
		c.Files[below] = string(data)
	}
}

// digest identifies a version of the assertions.
func (c *Component) digest() string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%d %s", len(c.Asserts), c.Asserts)
	for _, name := range slices.Sorted(maps.Keys(c.Files)) {
		fmt.Fprintf(sum, "%q %d %s", name, len(c.Files[name]), c.Files[name])
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// loaded is a component with the tests of its file.
type loaded struct {
	Component
	tests []*assertion.Test
	// err is the reason why there are no tests.
	err error
}

func load(c Component) loaded {
	l := loaded{Component: c}
	if c.File != "" {
		l.tests, l.err = assertion.Load(c.File, []byte(c.Asserts), assertion.Options{Dir: fileSet(c.Files), Namespace: c.Namespace})
	}
	return l
}

func (l *loaded) operations() []*assertion.Operation {
	var out []*assertion.Operation
	for _, t := range l.tests {
		out = append(out, t.Operations()...)
	}
	return out
}
