package track

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
)

// quantity reads an integer quantity written as a number or a string.
func quantity(u *unstructured.Unstructured, fields ...string) int {
	v, ok, err := unstructured.NestedFieldNoCopy(u.Object, fields...)
	if !ok || err != nil {
		return 0
	}
	q, err := resource.ParseQuantity(fmt.Sprint(v))
	if err != nil {
		return 0
	}
	return int(q.Value())
}

// objects reads a list of objects.
func objects(u *unstructured.Unstructured, fields ...string) []map[string]any {
	list, _, err := unstructured.NestedSlice(u.Object, fields...)
	if err != nil {
		return nil
	}
	out := make([]map[string]any, 0, len(list))
	for _, item := range list {
		if m, ok := item.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

func text(m map[string]any, key string) string {
	s, _ := m[key].(string)
	return s
}

// conditions reads status.conditions.
func conditions(u *unstructured.Unstructured) []snapshot.Condition {
	var out []snapshot.Condition
	for _, c := range objects(u, "status", "conditions") {
		at, err := time.Parse(time.RFC3339, text(c, "lastTransitionTime"))
		if err != nil {
			at = time.Time{}
		}
		out = append(out, snapshot.Condition{Type: text(c, "type"), Status: text(c, "status"), Reason: text(c, "reason"), Message: text(c, "message"), At: at})
	}
	return out
}
