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
	// Namespace of what the file names no namespace of.
	Namespace string `json:"namespace,omitempty"`
	// File is what the assertions are called in messages; empty: there are none.
	File string `json:"file,omitempty"`
	// Asserts is the file, a Chainsaw test.
	Asserts string `json:"asserts,omitempty"`
	// Beside are the files that it may refer to, by their paths from its directory.
	Beside map[string]string `json:"beside,omitempty"`
	// Missing says why there are no assertions, where more is known than that.
	Missing string `json:"missing,omitempty"`
}

// Components are the enabled components of a recipe in deployment order, with their
// own assertions or else those of the registry. What can't be read, or is left out
// by the recipe, is a component without assertions, which fails.
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
		c.Missing = fmt.Sprintf("%s can't be read: %s", t.Name(file), err)
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
			c.File, c.Missing = "", fmt.Sprintf("%s can't be read: %s", t.Name(other), err)
			return
		}
		if c.Beside == nil {
			c.Beside = map[string]string{}
		}
		c.Beside[below] = string(data)
	}
}

// digest tells one version of the assertions from another.
func (c *Component) digest() string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%d %s", len(c.Asserts), c.Asserts)
	for _, name := range slices.Sorted(maps.Keys(c.Beside)) {
		fmt.Fprintf(sum, "%q %d %s", name, len(c.Beside[name]), c.Beside[name])
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// loaded is a component with what its file comes to.
type loaded struct {
	Component
	tests []*assertion.Test
	// err is why there are none.
	err error
}

func load(c Component) loaded {
	l := loaded{Component: c}
	if c.File != "" {
		l.tests, l.err = assertion.Load(c.File, []byte(c.Asserts), assertion.Options{Dir: beside(c.Beside), Namespace: c.Namespace})
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
