package servicemetrics

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/probe/guard"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

const customAPI = "/apis/custom.metrics.k8s.io"

// errAbsent: the API does not have the metric.
var errAbsent = errors.New("the metric is not served")

// answered says that an error is the API server's answer: there is no such API, nobody
// stands behind it, or it has no such value. All others say nothing of what is served.
func answered(err error) bool {
	return errors.Is(err, errAbsent) || apierrors.IsNotFound(err) || apierrors.IsServiceUnavailable(err)
}

// api is the custom metrics API as an HPA asks it.
type api struct {
	cluster *kube.Cluster
	// path of its preferred version, and the metric's name there; once known.
	path, metric string
}

// find learns the version and the metric's name.
func (a *api) find(ctx context.Context) error {
	if a.metric != "" {
		return nil
	}
	client := a.cluster.Client.CoreV1().RESTClient()
	raw, err := client.Get().AbsPath(customAPI).DoRaw(ctx)
	if err != nil {
		return fmt.Errorf("discover custom.metrics.k8s.io: %w", err)
	}
	var group metav1.APIGroup
	if err := guard.JSON(raw, &group); err != nil {
		return fmt.Errorf("discover custom.metrics.k8s.io: %w", err)
	}
	path := customAPI + "/" + group.PreferredVersion.Version
	if raw, err = client.Get().AbsPath(path).DoRaw(ctx); err != nil {
		return fmt.Errorf("list the metrics of %s: %w", path, err)
	}
	if a.metric, err = metricOf(raw); err == nil {
		a.path = path
	}
	return err
}

// metricOf finds the metric among those that are listed of pods.
func metricOf(raw []byte) (string, error) {
	var list metav1.APIResourceList
	if err := guard.JSON(raw, &list); err != nil {
		return "", fmt.Errorf("read the list of custom metrics: %w", err)
	}
	of := 0
	for _, r := range list.APIResources {
		name, ok := strings.CutPrefix(r.Name, "pods/")
		if !ok {
			continue
		}
		of++
		if strings.ReplaceAll(name, ":", "_") == metricName {
			return name, nil
		}
	}
	return "", fmt.Errorf("%w: custom.metrics.k8s.io lists %d metrics of pods, and none is %s or %s", errAbsent, of, metricName, series)
}

// value reads the metric of one pod.
func (a *api) value(ctx context.Context, p pod) (served, error) {
	if err := a.find(ctx); err != nil {
		return served{}, err
	}
	raw, err := a.cluster.Client.CoreV1().RESTClient().Get().
		AbsPath(a.path, "namespaces", p.Namespace, "pods", p.Name, a.metric).DoRaw(ctx)
	if err != nil {
		return served{}, fmt.Errorf("read %s of pod %s/%s: %w", a.metric, p.Namespace, p.Name, err)
	}
	s, err := parseServed(raw)
	s.Metric = a.metric
	return s, err
}

// parseServed reads a MetricValueList of one object.
func parseServed(raw []byte) (served, error) {
	var list struct {
		Items []struct {
			Object struct {
				Kind      string `json:"kind"`
				Namespace string `json:"namespace"`
				Name      string `json:"name"`
			} `json:"describedObject"`
			Timestamp time.Time         `json:"timestamp"`
			Value     resource.Quantity `json:"value"`
		} `json:"items"`
	}
	if err := guard.JSON(raw, &list); err != nil {
		return served{}, fmt.Errorf("read the custom metric: %w", err)
	}
	if len(list.Items) != 1 {
		return served{}, fmt.Errorf("read the custom metric: %d values where one is meant", len(list.Items))
	}
	i := list.Items[0]
	return served{Namespace: i.Object.Namespace, Pod: i.Object.Name, Value: i.Value.AsApproximateFloat64(), At: i.Timestamp.UTC()}, nil
}

// await asks until enough says so, at most as long as anything may take. The error is
// that of the last look, where it was one.
func (o *observer) await(ctx context.Context, a *api, p pod, enough func(served) bool) (served, error) {
	end := o.deps.Clock.Now().Add(o.within)
	for {
		s, err := a.value(ctx, p)
		if err == nil && enough(s) || !o.deps.Clock.Now().Before(end) {
			return s, err
		}
		if err := o.pause(ctx, max(o.every/2, 100*time.Millisecond)); err != nil {
			return s, err
		}
	}
}

// highest is the highest value of samples; 0 of none.
func highest(list []sample) float64 {
	top := 0.0
	for _, s := range list {
		top = max(top, s.Value)
	}
	return top
}
