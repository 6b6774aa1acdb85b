package footprint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/firstlight/firstlight/internal/recipe/rule"
)

func (r *reader) requests(v any, at position) corev1.ResourceList {
	block := r.mapping(v, at)
	out := corev1.ResourceList{}
	for _, name := range slices.Sorted(maps.Keys(block)) {
		below := at.at(name)
		if !knownResource(name) {
			r.add(rule.PodField, below, "invalid resource %q: must be cpu, memory, ephemeral-storage or domain/name", name)
			continue
		}
		r.use(ResourceUse, name, below)
		var text string
		switch x := block[name].(type) {
		case nil:
			continue // removed by the value
		case string:
			text = x
		case int64, float64:
			text = fmt.Sprint(x)
		default:
			r.expected("a quantity", x, below)
			continue
		}
		q, err := resource.ParseQuantity(text)
		if err != nil || q.Sign() < 0 {
			r.add(rule.PodField, below, "invalid quantity %q: must be like 2, 500m or 4Gi", text)
			continue
		}
		out[corev1.ResourceName(name)] = q
	}
	return out
}

func knownResource(name string) bool {
	switch corev1.ResourceName(name) {
	case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return true
	default: // other resources must be extended resources or huge pages
	}
	return strings.HasPrefix(name, corev1.ResourceHugePagesPrefix) ||
		strings.Contains(name, "/") && len(validation.IsQualifiedName(name)) == 0
}

// container reads the requests of one container; a limit without a request is the request.
func (r *reader) container(v any, at position) corev1.ResourceList {
	block := r.mapping(v, at)
	for _, key := range slices.Sorted(maps.Keys(block)) {
		switch key {
		case "requests", "limits", "claims":
		default:
			r.add(rule.PodField, at.at(key), "unknown key %q of resources: want requests or limits", key)
		}
	}
	limits := r.requests(block["limits"], at.at("limits"))
	requests := r.requests(block["requests"], at.at("requests"))
	for name, limit := range limits {
		request, stated := requests[name]
		if !stated {
			requests[name] = limit
		} else if request.Cmp(limit) > 0 {
			r.add(rule.PodField, at.at("requests", string(name)), "the request for %s (%s) exceeds the limit (%s)", name, request.String(), limit.String())
		}
	}
	return requests
}

// addRequests adds b to a and modifies a.
func addRequests(a, b corev1.ResourceList) corev1.ResourceList {
	if a == nil && len(b) > 0 {
		a = corev1.ResourceList{}
	}
	for name, q := range b {
		sum := a[name]
		sum.Add(q)
		a[name] = sum
	}
	return a
}
