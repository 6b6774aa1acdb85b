package chart

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/firstlight/firstlight/internal/recipe/model"
)

type field struct {
	key   string
	value any
}

// podFields returns the non-empty fields of a pod in the order of the format, as comparable
// plain values: numbers are json.Number, quantities are canonical.
func podFields(p *model.FootprintPod) ([]field, error) {
	requests := map[string]string{}
	for name, text := range p.Requests {
		requests[name] = text.Text
		if q, err := resource.ParseQuantity(text.Text); err == nil {
			requests[name] = q.String()
		}
	}
	var out []field
	for _, f := range []field{
		{"labels", p.Labels}, {"nodeSelector", p.NodeSelector}, {"affinity", p.Affinity}, {"tolerations", p.Tolerations},
		{"topologySpreadConstraints", p.TopologySpreadConstraints}, {"requests", requests},
		{"priorityClassName", p.PriorityClassName}, {"schedulerName", p.SchedulerName}, {"hostNetwork", p.HostNetwork}, {"hostPorts", p.HostPorts},
	} {
		value, err := comparablePlain(f.value)
		if err != nil {
			return nil, fmt.Errorf("read %s of a pod: %w", f.key, err)
		}
		if !isEmpty(value) {
			out = append(out, field{f.key, value})
		}
	}
	return out, nil
}

func comparablePlain(v any) (any, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode JSON: %w", err)
	}
	return decodeJSON(data)
}

func isEmpty(v any) bool {
	switch x := v.(type) {
	case nil:
		return true
	case string:
		return x == ""
	case bool:
		return !x
	case map[string]any:
		return len(x) == 0
	case []any:
		return len(x) == 0
	default:
		return false
	}
}
