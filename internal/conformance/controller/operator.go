package controller

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kubejson "k8s.io/apimachinery/pkg/util/json"
	kubeyaml "sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/podpatch"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/workload"
)

//go:embed operators/*.yaml
var shipped embed.FS

// Operator describes a complex AI operator.
type Operator struct {
	Name   string `yaml:"name"`
	Title  string `yaml:"title"`
	Source string `yaml:"source"`
	// Definitions are its CustomResourceDefinitions; the first identifies it.
	Definitions []string `yaml:"definitions"`
	// Resource is the kind that the check creates.
	Resource Resource `yaml:"resource"`
	// Webhook is the name of the validating webhook of that kind; Lease the name of its
	// controller's lease, empty for none.
	Webhook string `yaml:"webhook"`
	Lease   string `yaml:"lease"`
	// Children are created for a resource, each level owned by the one before; the last are
	// pods.
	Children []Resource `yaml:"children"`
	// Done and Failed are the conditions of a resource that has ended.
	Done   string `yaml:"done"`
	Failed string `yaml:"failed"`
	Work   Work   `yaml:"work"`
	// Deadline of one resource, from its creation to its end.
	Deadline time.Duration `yaml:"deadline"`
	// AfterWork limits the time from the end of its pods to the end of a resource.
	AfterWork time.Duration `yaml:"afterWork"`
	// Setup is the object that the resource needs, empty for none; Valid the resource.
	Setup string `yaml:"setup"`
	Valid string `yaml:"valid"`
	// Only the webhook can deny Invalid; the schema must deny Misshapen.
	Invalid   Variant `yaml:"invalid"`
	Misshapen Variant `yaml:"misshapen"`
}

// Resource identifies a kind.
type Resource struct {
	Group    string `yaml:"group"`
	Version  string `yaml:"version"`
	Resource string `yaml:"resource"`
}

// Work is how many seconds the pods of a resource run: usually, and where the controller is
// killed meanwhile.
type Work struct {
	Plain  int `yaml:"plain"`
	Killed int `yaml:"killed"`
}

// Variant overrides values of the valid resource, and is why it must be denied.
type Variant struct {
	Why  string         `yaml:"why"`
	Over map[string]any `yaml:"over"`
}

func (r Resource) gvr() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Resource}
}

// Operators are the embedded operators, in the order of their detection.
func Operators() ([]Operator, error) {
	sub, err := fs.Sub(shipped, "operators")
	if err != nil {
		return nil, fmt.Errorf("read operators: %w", err)
	}
	return LoadOperators(sub)
}

// LoadOperators reads every *.yaml of a folder, by name. Its error has all problems of all
// files; a folder without files is an error.
func LoadOperators(dir fs.FS) ([]Operator, error) {
	names, err := fs.Glob(dir, "*.yaml")
	if err != nil || len(names) == 0 {
		return nil, errors.Join(errors.New("read operators: no files found"), err)
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

// ParseOperator reads one operator. Unknown and missing keys are errors.
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
		need(f.value != "", "%s: required", f.key)
	}
	need(len(o.Definitions) > 0, "definitions: required")
	need(len(o.Invalid.Over) > 0, "invalid.over: required")
	need(len(o.Misshapen.Over) > 0, "misshapen.over: required")
	need(o.Work.Plain > 0 && o.Work.Killed > o.Work.Plain, "invalid work %d and %d: must be positive seconds, the second longer", o.Work.Plain, o.Work.Killed)
	need(o.AfterWork > 0 && o.AfterWork < o.Deadline, "invalid afterWork %s: must be between 0 and the deadline", o.AfterWork)
	need(o.Deadline > time.Duration(o.Work.Killed)*time.Second, "invalid deadline %s: must be longer than the work", o.Deadline)
	if n := len(o.Children); n == 0 || o.Children[n-1] != (Resource{Version: "v1", Resource: "pods"}) {
		problems = append(problems, errors.New("invalid children: the last must be pods of v1"))
	}
	for _, v := range []variant{{}, {over: o.Invalid.Over}, {over: o.Misshapen.Over}} {
		obj, err := o.render(o.Valid, values{Name: "a", Namespace: "b"}, v)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		group, version := obj.GroupVersionKind().Group, obj.GroupVersionKind().Version
		need(group == o.Resource.Group && version == o.Resource.Version, "invalid valid: its API is %s, want %s/%s", obj.GetAPIVersion(), o.Resource.Group, o.Resource.Version)
		need(obj.GetName() == "a" && obj.GetNamespace() == "b", "invalid valid: must use ${NAME} and ${NAMESPACE}")
	}
	if o.Setup != "" {
		if _, err := o.render(o.Setup, values{Name: "a", Namespace: "b"}, variant{}); err != nil {
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

// values fill a template, each encoded as JSON, which is YAML.
type values struct {
	Name, Namespace, Image, PriorityClass string
	Labels                                map[string]string
	Nodes                                 []string
	Seconds                               int
	// DeviceClass of the GPU of a pod; empty: the device plugin's resource.
	DeviceClass string
	// Patches are the site's, of the pods of a template's object.
	Patches []map[string]any
}

// variant overrides values of a template's object.
type variant struct{ over map[string]any }

// render creates an object from a template.
func (o Operator) render(template string, v values, vary variant) (*unstructured.Unstructured, error) {
	var pairs []string
	gpu, claims := gpuValues(v.DeviceClass)
	for _, p := range []struct {
		name  string
		value any
	}{
		{"NAME", v.Name}, {"NAMESPACE", v.Namespace}, {"IMAGE", v.Image}, {"PRIORITY_CLASS", v.PriorityClass},
		{"LABELS", v.Labels}, {"NODE_TERMS", nodeTerms(v.Nodes)}, {"SECONDS", strconv.Itoa(v.Seconds)}, {"LOAD", workload.GPULoadScript},
		{"GPU", gpu}, {"GPU_CLAIMS", claims},
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
		return nil, fmt.Errorf("operator %s: unknown variable ${%s}", o.Name, name)
	}
	obj := &unstructured.Unstructured{}
	if err := kubeyaml.UnmarshalStrict([]byte(filled), &obj.Object); err != nil {
		return nil, fmt.Errorf("operator %s: read object: %w", o.Name, err)
	}
	if obj.GetKind() == "" || obj.GetAPIVersion() == "" {
		return nil, fmt.Errorf("operator %s: object without kind or apiVersion", o.Name)
	}
	over, err := normal(vary.over)
	if err != nil {
		return nil, fmt.Errorf("operator %s: read overrides: %w", o.Name, err)
	}
	overlay(obj.Object, over)
	if err := patchPods(obj.Object, v.Patches); err != nil {
		return nil, fmt.Errorf("operator %s: patch the pods of %s: %w", o.Name, obj.GetKind(), err)
	}
	return obj, nil
}

// nodeTerms select nodes by their names, whatever their labels are.
func nodeTerms(nodes []string) []corev1.NodeSelectorTerm {
	if len(nodes) == 0 {
		return []corev1.NodeSelectorTerm{}
	}
	return kube.OnNodes(nodes).NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
}

// patchPods applies patches to every pod template in an object. A pod template has containers in its spec.
func patchPods(in any, patches []map[string]any) error {
	if len(patches) == 0 {
		return nil
	}
	switch in := in.(type) {
	case []any:
		for _, item := range in {
			if err := patchPods(item, patches); err != nil {
				return err
			}
		}
	case map[string]any:
		if spec, ok := in["spec"].(map[string]any); ok && spec["containers"] != nil {
			return patchPod(in, patches)
		}
		for _, value := range in {
			if err := patchPods(value, patches); err != nil {
				return err
			}
		}
	}
	return nil
}

func patchPod(template map[string]any, patches []map[string]any) error {
	var pod corev1.PodTemplateSpec
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(template, &pod); err != nil {
		return fmt.Errorf("read the pod template: %w", err)
	}
	patched, err := podpatch.Apply(pod, patches...)
	if err != nil {
		return err
	}
	out, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&patched)
	if err != nil {
		return fmt.Errorf("write the pod template: %w", err)
	}
	maps.Copy(template, out)
	return nil
}

// normal converts values to the types of unstructured API objects.
func normal(over map[string]any) (out map[string]any, err error) {
	raw, err := json.Marshal(over)
	if err == nil {
		err = kubejson.Unmarshal(raw, &out)
	}
	return out, err
}

// overlay merges maps key by key, and replaces all other values.
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

// definitionsOf lists operators with the definitions that identify them.
func definitionsOf(operators []Operator) []string {
	var out []string
	for _, o := range operators {
		out = append(out, o.Title+" ("+o.Definitions[0]+")")
	}
	slices.Sort(out)
	return out
}
