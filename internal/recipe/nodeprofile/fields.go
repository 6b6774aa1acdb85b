package nodeprofile

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/firstlight/firstlight/internal/recipe/model"
	"github.com/firstlight/firstlight/internal/recipe/rule"
)

// quantity reads a positive quantity.
func (r *reader) quantity(text string, keys ...string) (resource.Quantity, bool) {
	q, err := resource.ParseQuantity(text)
	if err == nil && q.Sign() > 0 {
		return q, true
	}
	r.add(rule.Quantity, keys, "invalid quantity %q: must be positive", text)
	return resource.Quantity{}, false
}

// integer reads a positive whole number.
func (r *reader) integer(text string, keys ...string) int64 {
	q, ok := r.quantity(text, keys...)
	if !ok {
		return 0
	}
	n, exact := q.AsInt64()
	if !exact {
		r.add(rule.Quantity, keys, "invalid quantity %q: must be a whole number", text)
	}
	return n
}

func (r *reader) labels(labels map[string]string, keys ...string) {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		wrong := append(validation.IsQualifiedName(key), validation.IsValidLabelValue(labels[key])...)
		if len(wrong) > 0 {
			r.add(rule.LabelText, append(slices.Clone(keys), key), "label %s=%s: %s", key, labels[key], trimExamples(wrong[0]))
		}
	}
}

func (r *reader) taints(list []model.NodeTaint) []corev1.Taint {
	var out []corev1.Taint
	for i, t := range list {
		keys := []string{"spec", "taints", strconv.Itoa(i), "key"}
		if wrong := append(validation.IsQualifiedName(t.Key), validation.IsValidLabelValue(t.Value)...); len(wrong) > 0 {
			r.add(rule.LabelText, keys, "taint %s=%s: %s", t.Key, t.Value, trimExamples(wrong[0]))
		}
		if slices.ContainsFunc(out, func(o corev1.Taint) bool { return o.Key == t.Key && string(o.Effect) == t.Effect }) {
			r.add(rule.DuplicateEntry, keys, "duplicate taint %s:%s", t.Key, t.Effect)
			continue
		}
		out = append(out, corev1.Taint{Key: t.Key, Value: t.Value, Effect: corev1.TaintEffect(t.Effect)})
	}
	return out
}

func (r *reader) devices(list []model.NodeDevice) []Device {
	var out []Device
	for i, d := range list {
		at := func(key string) []string { return []string{"spec", "extendedResources", strconv.Itoa(i), key} }
		if wrong := validation.IsQualifiedName(d.Name); len(wrong) > 0 || !strings.Contains(d.Name, "/") {
			r.add(rule.LabelText, at("name"), "invalid extended resource %q: must be domain/name", d.Name)
		}
		if slices.ContainsFunc(out, func(o Device) bool { return string(o.Name) == d.Name }) {
			r.add(rule.DuplicateEntry, at("name"), "duplicate resource %s", d.Name)
			continue
		}
		device := Device{Name: corev1.ResourceName(d.Name), Quantity: r.integer(d.Quantity, at("quantity")...), Use: d.Use, From: d.From}
		device.Request = device.Quantity
		if d.Request != "" {
			device.Request = r.integer(d.Request, at("request")...)
		}
		if device.Request > device.Quantity {
			r.add(rule.Quantity, at("request"), "a pod that uses the whole node requests %d %s, but the node has %d", device.Request, d.Name, device.Quantity)
		}
		out = append(out, device)
	}
	return out
}

// trimExamples removes the examples from a message of Kubernetes.
func trimExamples(message string) string {
	message, _, _ = strings.Cut(message, " (e.g.")
	return message
}
