package manifest

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// convertThroughKueue has Kueue convert the versions of its kinds, as the module's patches
// config/components/crd/patches/webhook_in_*.yaml do.
func convertThroughKueue(definitions []*unstructured.Unstructured, v Values) error {
	converted := []string{"clusterqueues", "cohorts", "localqueues", "multikueueclusters", "workloads"}
	for _, d := range definitions {
		plural, _, err := unstructured.NestedString(d.Object, "spec", "names", "plural")
		if err != nil {
			return fmt.Errorf("read definition %s: %w", d.GetName(), err)
		}
		if !slices.Contains(converted, plural) {
			continue
		}
		err = unstructured.SetNestedMap(d.Object, map[string]any{
			"strategy": "Webhook",
			"webhook": map[string]any{
				"conversionReviewVersions": []any{"v1"},
				"clientConfig": map[string]any{"service": map[string]any{
					"namespace": "kueue-system", "name": "kueue-webhook-service", "path": "/convert", "port": int64(v.KueueWebhookPort),
				}},
			},
		}, "spec", "conversion")
		if err != nil {
			return fmt.Errorf("convert %s: %w", d.GetName(), err)
		}
	}
	return nil
}
