package controller

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kubejson "k8s.io/apimachinery/pkg/util/json"
	kubeyaml "sigs.k8s.io/yaml"
)

// shipped are the operators that are known.
//
//go:embed operators/*.yaml
var shipped embed.FS

// Operator is what is known of one complex AI operator.
type Operator struct {
	Name   string `yaml:"name"`
	Title  string `yaml:"title"`
	Source string `yaml:"source"`
	// Definitions are its CustomResourceDefinitions; the first is the one by which it
	// is recognised.
	Definitions []string `yaml:"definitions"`
	// Resource is the kind that is created.
	Resource Resource `yaml:"resource"`
	// Webhook is the name of the validating webhook of that kind; Lease that of the
	// lease which its controller holds, empty for none.
	Webhook string `yaml:"webhook"`
	Lease   string `yaml:"lease"`
	// Children are what is made of a resource, each level owned by the one before; the
	// last are pods.
	Children []Resource `yaml:"children"`
	// Done and Failed are the conditions of its end.
	Done   string `yaml:"done"`
	Failed string `yaml:"failed"`
	Work   Work   `yaml:"work"`
	// Deadline is for one resource, from its creation to its end.
	Deadline time.Duration `yaml:"deadline"`
	// AfterWork is for a resource to say that it has ended, from the end of its pods.
	AfterWork time.Duration `yaml:"afterWork"`
	// Setup is the object that the resource needs, empty for none; Valid the resource.
	Setup string `yaml:"setup"`
	Valid string `yaml:"valid"`
	// Invalid is wrong in a way that the schema can't know, Misshapen in one that it must.
	Invalid   Variant `yaml:"invalid"`
	Misshapen Variant `yaml:"misshapen"`
}

// Resource names a kind by its API.
type Resource struct {
	Group    string `yaml:"group"`
	Version  string `yaml:"version"`
	Resource string `yaml:"resource"`
}

// Work is how many seconds the pods of a resource work: usually, and where the
// controller is killed meanwhile.
type Work struct {
	Plain  int `yaml:"plain"`
	Killed int `yaml:"killed"`
}

// Variant is what is laid over the valid resource, and why it must be denied.
type Variant struct {
	Why  string         `yaml:"why"`
	Over map[string]any `yaml:"over"`
}

// gvr is the kind as clients want it.
func (r Resource) gvr() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Resource}
}

// Operators are those that this program knows, in the order in which they are looked for.
func Operators() ([]Operator, error) {
	sub, err := fs.Sub(shipped, "operators")
	if err != nil {
		return nil, fmt.Errorf("read operators: %w", err)
	}
	return LoadOperators(sub)
}

// LoadOperators reads every *.yaml of a folder, by name. All that is wrong with any of
// them is in the error; no file at all is wrong.
func LoadOperators(dir fs.FS) ([]Operator, error) {
	names, err := fs.Glob(dir, "*.yaml")
	if err != nil || len(names) == 0 {
		return nil, errors.Join(errors.New("read operators: there are no files"), err)
	}
	var all []Operator
	var problems []error
	for _, n := range names {
		raw, err := fs.ReadFile(dir, n)
		if err != nil {
			problems = append(problems, fmt.Errorf("read operator: %w", err))
			continue
		}
		o, err := ParseOperator(raw)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", n, err))
		}
		all = append(all, o)
	}
	return all, errors.Join(problems...)
}

// ParseOperator reads one operator: unknown keys are errors, so is what is missing.
func ParseOperator(raw []byte) (Operator, error) {
	var o Operator
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	dec.KnownFields(true)
	if err := dec.Decode(&o); err != nil {
		return o, fmt.Errorf("read operator: %w", err)
	}
	return o, o.validate()
}

func (o Operator) validate() error {
	var problems []error
	need := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	for _, f := range []struct{ key, value string }{
		{"name", o.Name}, {"title", o.Title}, {"source", o.Source}, {"webhook", o.Webhook}, {"done", o.Done}, {"failed", o.Failed},
		{"valid", o.Valid}, {"invalid.why", o.Invalid.Why}, {"misshapen.why", o.Misshapen.Why},
		{"resource.version", o.Resource.Version}, {"resource.resource", o.Resource.Resource},
	} {
		need(f.value != "", "%s: must be given", f.key)
	}
	need(len(o.Definitions) > 0, "definitions: at least the resource's own must be given")
	need(len(o.Invalid.Over) > 0, "invalid.over: what makes it invalid must be given")
	need(len(o.Misshapen.Over) > 0, "misshapen.over: what makes it misshapen must be given")
	need(o.Work.Plain > 0 && o.Work.Killed > o.Work.Plain, "work: %d and %d seconds: must be positive, the second the longer", o.Work.Plain, o.Work.Killed)
	need(o.AfterWork > 0 && o.AfterWork < o.Deadline, "afterWork: %s is not between nothing and the deadline", o.AfterWork)
	need(o.Deadline > time.Duration(o.Work.Killed)*time.Second, "deadline: %s is not longer than the work", o.Deadline)
	if n := len(o.Children); n == 0 || o.Children[n-1] != (Resource{Version: "v1", Resource: "pods"}) {
		problems = append(problems, errors.New("children: the last must be pods of v1"))
	}
	for _, v := range []variant{{}, {over: o.Invalid.Over}, {over: o.Misshapen.Over}} {
		obj, err := o.render(o.Valid, values{Name: "a", Namespace: "b"}, v)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		group, version := obj.GroupVersionKind().Group, obj.GroupVersionKind().Version
		need(group == o.Resource.Group && version == o.Resource.Version, "valid: it is of %s, the resource of %s/%s", obj.GetAPIVersion(), o.Resource.Group, o.Resource.Version)
		need(obj.GetName() == "a" && obj.GetNamespace() == "b", "valid: it must have ${NAME} and ${NAMESPACE}")
	}
	if o.Setup != "" {
		if _, err := o.render(o.Setup, values{Name: "a", Namespace: "b"}, variant{}); err != nil {
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

// values fill a template. Each is put in as JSON, which is YAML.
type values struct {
	Name, Namespace, Image, PriorityClass string
	Labels                                map[string]string
	Nodes                                 []string
	Seconds                               int
}

// variant is what is laid over a template's object.
type variant struct{ over map[string]any }

// render makes an object of a template.
func (o Operator) render(template string, v values, vary variant) (*unstructured.Unstructured, error) {
	var pairs []string
	for _, p := range []struct {
		name  string
		value any
	}{
		{"NAME", v.Name}, {"NAMESPACE", v.Namespace}, {"IMAGE", v.Image}, {"PRIORITY_CLASS", v.PriorityClass},
		{"LABELS", v.Labels}, {"NODES", v.Nodes}, {"SECONDS", strconv.Itoa(v.Seconds)},
	} {
		text, err := json.Marshal(p.value)
		if err != nil {
			return nil, fmt.Errorf("operator %s: fill in %s: %w", o.Name, p.name, err)
		}
		pairs = append(pairs, "${"+p.name+"}", string(text))
	}
	filled := strings.NewReplacer(pairs...).Replace(template)
	if _, rest, gap := strings.Cut(filled, "${"); gap {
		name, _, _ := strings.Cut(rest, "}")
		return nil, fmt.Errorf("operator %s: there is no ${%s} to fill in", o.Name, name)
	}
	obj := &unstructured.Unstructured{}
	if err := kubeyaml.UnmarshalStrict([]byte(filled), &obj.Object); err != nil {
		return nil, fmt.Errorf("operator %s: read object: %w", o.Name, err)
	}
	if obj.GetKind() == "" || obj.GetAPIVersion() == "" {
		return nil, fmt.Errorf("operator %s: an object has no kind", o.Name)
	}
	over, err := normal(vary.over)
	if err != nil {
		return nil, fmt.Errorf("operator %s: read what is laid over: %w", o.Name, err)
	}
	overlay(obj.Object, over)
	return obj, nil
}

// normal has the types that API objects have.
func normal(over map[string]any) (out map[string]any, err error) {
	raw, err := json.Marshal(over)
	if err == nil {
		err = kubejson.Unmarshal(raw, &out)
	}
	return out, err //nolint:wrapcheck // the caller says what of
}

// overlay lays values over those that are there: maps key by key, all else whole.
func overlay(under, over map[string]any) {
	for key, value := range over {
		below, isMap := under[key].(map[string]any)
		above, alsoMap := value.(map[string]any)
		if isMap && alsoMap {
			overlay(below, above)
			continue
		}
		under[key] = value
	}
}

// definitionsOf names what is looked for to recognise operators.
func definitionsOf(operators []Operator) []string {
	var out []string
	for _, o := range operators {
		out = append(out, o.Title+" ("+o.Definitions[0]+")")
	}
	slices.Sort(out)
	return out
}
