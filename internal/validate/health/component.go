package health

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"

	"github.com/firstlight/firstlight/internal/assertion"
	"github.com/firstlight/firstlight/internal/recipe/resolve"
)

// Component is one component with its assertions.
type Component struct {
	// Name as in the recipe.
	Name string
	// Namespace of what the file names no namespace of.
	Namespace string
	// File is what the assertions are called in messages; empty: there are none.
	File string
	// Asserts is the file, a Chainsaw test.
	Asserts []byte
	// Dir is where the file stands, for what it refers to; may be nil.
	Dir fs.FS
	// Missing says why there are no assertions, where more is known than that.
	Missing string
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
			c.File, c.Asserts = "healthCheckAsserts of "+name, []byte(ref.HealthCheckAsserts)
		case entry != nil && entry.HealthCheck != nil && entry.HealthCheck.AssertFile != "":
			c.fromTree(r, entry.HealthCheck.AssertFile)
		}
		out = append(out, c)
	}
	return out
}

func (c *Component) fromTree(r *resolve.Result, path string) {
	t := r.Tree()
	data, err := t.Data(path)
	if err != nil {
		c.Missing = fmt.Sprintf("%s can't be read: %s", t.Name(path), err)
		return
	}
	c.File, c.Asserts = t.Name(path), data
}

// digest tells one version of the assertions from another.
func (c *Component) digest() string {
	sum := sha256.Sum256(c.Asserts)
	return hex.EncodeToString(sum[:])
}

// loaded is a component with what its file comes to.
type loaded struct {
	Component
	tests []*assertion.Test
	// err is why there are none.
	err error
}

func (l *loaded) operations() []*assertion.Operation {
	var out []*assertion.Operation
	for _, t := range l.tests {
		out = append(out, t.Operations()...)
	}
	return out
}
