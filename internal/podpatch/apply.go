package podpatch

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// Apply returns the template with the patches applied, in order. Tolerations are added to those of
// the template, although a strategic merge patch replaces that list. Apply fails if a patch changes
// or removes anything that the template has: all such fields are named in the error.
func Apply(template corev1.PodTemplateSpec, patches ...map[string]any) (corev1.PodTemplateSpec, error) {
	before, err := json.Marshal(template)
	if err != nil {
		return template, fmt.Errorf("encode the pod: %w", err)
	}
	after := before
	for _, patch := range patches {
		if len(patch) == 0 {
			continue
		}
		patch, err := withTolerations(patch, after)
		if err != nil {
			return template, err
		}
		data, err := json.Marshal(patch)
		if err != nil {
			return template, fmt.Errorf("encode the patch: %w", err)
		}
		if after, err = strategicpatch.StrategicMergePatch(after, data, corev1.PodTemplateSpec{}); err != nil {
			return template, fmt.Errorf("patch the pod: %w", err)
		}
	}
	var out corev1.PodTemplateSpec
	if err := json.Unmarshal(after, &out); err != nil {
		return template, fmt.Errorf("decode the patched pod: %w", err)
	}
	if err := kept(before, after); err != nil {
		return template, err
	}
	return out, nil
}

// ApplyPod is Apply for a pod that no controller creates from a template.
func ApplyPod(pod *corev1.Pod, patches ...map[string]any) (*corev1.Pod, error) {
	template, err := Apply(corev1.PodTemplateSpec{ObjectMeta: pod.ObjectMeta, Spec: pod.Spec}, patches...)
	if err != nil {
		return nil, err
	}
	out := pod.DeepCopy()
	out.ObjectMeta, out.Spec = template.ObjectMeta, template.Spec
	return out, nil
}

// Alone is what patches add to pods in a namespace that a run creates: their tolerations. Everything else may refer to an object that the
// namespace does not have, or be refused there.
func Alone(patches ...map[string]any) []map[string]any {
	var out []map[string]any
	for _, patch := range patches {
		spec, _ := patch["spec"].(map[string]any)
		if tolerations, ok := spec["tolerations"]; ok {
			out = append(out, map[string]any{"spec": map[string]any{"tolerations": tolerations}})
		}
	}
	return out
}

// withTolerations is the patch with the tolerations of a template in front of its own.
func withTolerations(patch map[string]any, template []byte) (map[string]any, error) {
	spec, _ := patch["spec"].(map[string]any)
	own, _ := spec["tolerations"].([]any)
	if len(own) == 0 {
		return patch, nil
	}
	var has struct {
		Spec struct {
			Tolerations []any `json:"tolerations"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(template, &has); err != nil {
		return nil, fmt.Errorf("decode the tolerations of the pod: %w", err)
	}
	patch, spec = maps.Clone(patch), maps.Clone(spec)
	spec["tolerations"] = slices.Concat(has.Spec.Tolerations, own)
	patch["spec"] = spec
	return patch, nil
}

// kept returns an error that names each field of one JSON document that another one has not, or
// has with another value.
func kept(before, after []byte) error {
	var want, got any
	if err := errors.Join(json.Unmarshal(before, &want), json.Unmarshal(after, &got)); err != nil {
		return fmt.Errorf("compare the patched pod: %w", err)
	}
	var problems []error
	for _, p := range lost("", want, got) {
		problems = append(problems, p)
	}
	return errors.Join(problems...)
}

func lost(path string, want, got any) []Problem {
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok {
			return []Problem{changed(path, want, got)}
		}
		var problems []Problem
		for _, key := range slices.Sorted(maps.Keys(want)) {
			problems = append(problems, lost(join(path, key), want[key], object[key])...)
		}
		return problems
	case []any:
		items, _ := got.([]any)
		var problems []Problem
		for i, item := range want {
			problems = append(problems, lostItem(join(path, fmt.Sprint(i)), item, items)...)
		}
		return problems
	default:
		if !reflect.DeepEqual(want, got) {
			return []Problem{changed(path, want, got)}
		}
		return nil
	}
}

// lostItem compares an item of a list with the item of the same name, or with any item if it has
// no name. A patch may put its own items in front.
func lostItem(path string, want any, items []any) []Problem {
	name := nameOf(want)
	for _, item := range items {
		if name != "" && nameOf(item) == name {
			return lost(path, want, item)
		}
		if name == "" && len(lost(path, want, item)) == 0 {
			return nil
		}
	}
	return []Problem{changed(path, want, nil)}
}

func nameOf(item any) string {
	object, _ := item.(map[string]any)
	name, _ := object["name"].(string)
	return name
}

func changed(path string, want, got any) Problem {
	if got == nil {
		return Problem{path, fmt.Sprintf("the gate sets %s, the patch removes it; %s", short(want), remedy)}
	}
	return Problem{path, fmt.Sprintf("the gate sets %s, the patch changes it to %s; %s", short(want), short(got), remedy)}
}

// short is a value in at most one line of a message.
func short(value any) string {
	const width = 60
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	if len(data) > width {
		return string(data[:width]) + "…"
	}
	return string(data)
}
