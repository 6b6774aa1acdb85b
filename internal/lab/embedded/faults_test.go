package embedded

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/world"
)

// available returns nil if both metrics APIs have the condition.
func (b *bench) available(t *testing.T, want corev1.ConditionStatus) error {
	t.Helper()
	for _, api := range []string{"custom", "external"} {
		raw, err := b.get(t, "/apis/apiregistration.k8s.io/v1/apiservices/v1beta1."+api+".metrics.k8s.io", nil)
		if err != nil {
			return err
		}
		var s struct {
			Status struct {
				Conditions []struct {
					Type    string
					Status  corev1.ConditionStatus
					Message string
				}
			}
		}
		if err := json.Unmarshal(raw, &s); err != nil {
			return err
		}
		for _, c := range s.Status.Conditions {
			if c.Type == "Available" && c.Status != want {
				return fmt.Errorf("%s: Available=%s: %s", api, c.Status, c.Message)
			}
		}
	}
	return nil
}

// listed returns the metrics of the external API.
func (b *bench) listed(t *testing.T) (string, error) {
	t.Helper()
	raw, err := b.get(t, "/apis/external.metrics.k8s.io/v1beta1", nil)
	return string(raw), err
}

// Each fault is in effect when adding it returns, and removed when clearing it returns.
func testAdapterFaults(t *testing.T, b *bench) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	polltest.UntilNil(t, "the adapter to be well", func() error { return b.available(t, corev1.ConditionTrue) })

	repair := b.fault(t, world.Fault{Kind: "adapter-down"})
	must(b.available(t, corev1.ConditionFalse))
	must(b.ready(t, "monitoring", "prometheus-adapter", 0))
	must(b.ready(t, "kube-system", "karpenter", 1))
	also := b.fault(t, world.Fault{Kind: "adapter-rule-wrong"}) // does not start it
	must(b.ready(t, "monitoring", "prometheus-adapter", 0))
	also()
	repair()
	must(b.available(t, corev1.ConditionTrue))
	must(b.ready(t, "monitoring", "prometheus-adapter", 1))

	repair = b.fault(t, world.Fault{Kind: "apiservice-unavailable"})
	must(b.available(t, corev1.ConditionFalse))
	must(b.ready(t, "monitoring", "prometheus-adapter", 1))
	repair()
	must(b.available(t, corev1.ConditionTrue))

	const power, util = "dcgm_gpu_power_usage", "dcgm_gpu_utilization"
	lists := func(want bool) func() error {
		return func() error {
			text, err := b.listed(t)
			if err == nil && (strings.Contains(text, power) != want || !strings.Contains(text, util)) {
				err = fmt.Errorf("the API lists %s", text)
			}
			return err
		}
	}
	polltest.UntilNil(t, "power to be listed", lists(true))
	repair = b.fault(t, world.Fault{Kind: "adapter-rule-wrong"})
	polltest.UntilNil(t, "the rest to be listed", lists(false))
	repair()
	polltest.UntilNil(t, "power to be listed again", lists(true))
}
