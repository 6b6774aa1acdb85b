package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/lab/manifest"
	"github.com/firstlight/firstlight/internal/poll"
)

const (
	// closedPort is a privileged port, which no program of a lab can bind.
	closedPort = 1
	// rescanAnnotation makes the API server check an APIService at once instead of after half a
	// minute.
	rescanAnnotation = "firstlight.dev/rescan"
	rescanInterval   = time.Second
)

// metricsServices returns the APIServices of the metrics APIs.
func (l *Lab) metricsServices(f component.Faults) ([]*unstructured.Unstructured, error) {
	l.mu.Lock()
	conf := l.conf
	l.mu.Unlock()
	v, err := extraValues(conf)
	if err != nil {
		return nil, fmt.Errorf("register metrics APIs: %w", err)
	}
	if f.APIServiceUnavailable {
		v.AdapterPort = closedPort
	}
	return manifest.APIServices(v)
}

// updateMetrics points the metrics APIServices at their backend under the faults and waits until
// their availability matches.
func (l *Lab) updateMetrics(ctx context.Context, f component.Faults) error {
	services, err := l.metricsServices(f)
	if err != nil {
		return err
	}
	client, err := l.dynamicClient()
	if err != nil {
		return err
	}
	want := "True"
	if f.AdapterDown || f.APIServiceUnavailable {
		want = "False"
	}
	for _, s := range services {
		if err := l.updateService(ctx, client, s, want); err != nil {
			return err
		}
	}
	return nil
}

// updateService patches one APIService and waits for its availability.
func (l *Lab) updateService(ctx context.Context, client dynamic.Interface, s *unstructured.Unstructured, want string) error {
	r, err := resourceOf(client, s)
	if err != nil {
		return err
	}
	var patched time.Time
	return poll.Until(ctx, pollInterval, "APIService "+s.GetName()+" to have condition Available="+want, func(ctx context.Context) error {
		now := l.opts.Clock.Now()
		if now.Sub(patched) < rescanInterval {
			got, err := r.Get(ctx, s.GetName(), metav1.GetOptions{})
			if err != nil {
				return err
			}
			status, message := conditionOf(got, "Available")
			if status == want {
				return nil
			}
			return fmt.Errorf("condition Available is %q: %s", status, message)
		}
		patched = now
		patch, err := json.Marshal(map[string]any{
			"metadata": map[string]any{"annotations": map[string]any{rescanAnnotation: now.Format(time.RFC3339Nano)}},
			"spec":     s.Object["spec"],
		})
		if err != nil {
			return poll.Stop(err)
		}
		if _, err = r.Patch(ctx, s.GetName(), types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
			return err
		}
		return errors.New("just patched")
	})
}

// conditionOf returns status and message of a condition; both are empty if it does not exist.
func conditionOf(obj *unstructured.Unstructured, kind string) (status, message string) {
	conditions, _, err := unstructured.NestedSlice(obj.Object, "status", "conditions")
	if err != nil {
		return "", ""
	}
	for _, c := range conditions {
		if m, ok := c.(map[string]any); ok && m["type"] == kind {
			status, _ = m["status"].(string)
			message, _ = m["message"].(string)
		}
	}
	return status, message
}
