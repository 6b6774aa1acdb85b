package policy

import (
	"embed"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

//go:embed data/*.yaml
var data embed.FS

// policy is one data file.
type policy struct {
	Resource resource                                `json:"resource"`
	Spec     admissionv1.MutatingAdmissionPolicySpec `json:"spec"`
	// Sample is an object that the policy changes; Shows is the path of the changed field.
	Sample map[string]any `json:"sample"`
	Shows  []any          `json:"shows"`
}

type resource struct {
	Group    string `json:"group"`
	Version  string `json:"version"`
	Resource string `json:"resource"`
}

func (r resource) schema() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Resource}
}

var load = sync.OnceValues(func() (map[string]policy, error) {
	entries, err := data.ReadDir("data")
	if err != nil {
		return nil, fmt.Errorf("read policies: %w", err)
	}
	all := map[string]policy{}
	for _, e := range entries {
		raw, err := data.ReadFile(path.Join("data", e.Name()))
		if err != nil {
			return nil, fmt.Errorf("read policies: %w", err)
		}
		var p policy
		if err := yaml.UnmarshalStrict(raw, &p); err != nil {
			return nil, fmt.Errorf("read policy %s: %w", e.Name(), err)
		}
		all[strings.TrimSuffix(e.Name(), ".yaml")] = p
	}
	return all, nil
})

func find(name string) (policy, error) {
	all, err := load()
	if err != nil {
		return policy{}, err
	}
	p, ok := all[name]
	if !ok {
		return policy{}, fmt.Errorf("unknown policy %q: want one of %s", name, strings.Join(slices.Sorted(maps.Keys(all)), ", "))
	}
	return p, nil
}

// objects returns the policy and a binding for everything that it matches.
func (p policy) objects(name string) (*admissionv1.MutatingAdmissionPolicy, *admissionv1.MutatingAdmissionPolicyBinding) {
	meta := metav1.ObjectMeta{Name: objectName(name), Labels: map[string]string{labelFault: name}}
	return &admissionv1.MutatingAdmissionPolicy{ObjectMeta: meta, Spec: p.Spec},
		&admissionv1.MutatingAdmissionPolicyBinding{ObjectMeta: meta, Spec: admissionv1.MutatingAdmissionPolicyBindingSpec{PolicyName: meta.Name}}
}

// labelFault is on every API object that a fault creates.
const labelFault = "firstlight.dev/lab-fault"

func objectName(name string) string { return "lab-" + name }

func (p policy) sample() *unstructured.Unstructured {
	return (&unstructured.Unstructured{Object: p.Sample}).DeepCopy()
}

// changed reports whether the field at Shows differs from the sample.
func (p policy) changed(answer *unstructured.Unstructured) bool {
	sent, _ := at(p.Sample, p.Shows)
	got, ok := at(answer.Object, p.Shows)
	return !ok || fmt.Sprint(got) != fmt.Sprint(sent)
}

// at returns the value at a path of keys and indices.
func at(v any, where []any) (any, bool) {
	for _, step := range where {
		switch in := v.(type) {
		case map[string]any:
			key, _ := step.(string)
			next, ok := in[key]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			i, ok := step.(float64) // JSON numbers
			if !ok || int(i) >= len(in) {
				return nil, false
			}
			v = in[int(i)]
		default:
			return nil, false
		}
	}
	return v, true
}
