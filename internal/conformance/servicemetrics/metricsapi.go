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

var errAbsent = errors.New("metric not served")

// answered reports whether an error is an answer about the metric: the API is missing or
// unavailable, or it has no such value. Other errors show nothing of what is served.
func answered(err error) bool {
	return errors.Is(err, errAbsent) || apierrors.IsNotFound(err) || apierrors.IsServiceUnavailable(err)
}

// api is a client of the custom metrics API that requests what an HPA requests.
type api struct {
	cluster *kube.Cluster
	// path of its preferred version, and the metric's name in it; set by find.
	path, metric string
}

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

// metricOf finds the metric in the list of pod metrics.
func metricOf(raw []byte) (string, error) {
	var list metav1.APIResourceList
	if err := guard.JSON(raw, &list); err != nil {
		return "", fmt.Errorf("read the list of custom metrics: %w", err)
	}
	n := 0
	for _, r := range list.APIResources {
		name, ok := strings.CutPrefix(r.Name, "pods/")
		if !ok {
			continue
		}
		n++
		if strings.ReplaceAll(name, ":", "_") == metricName {
			return name, nil
		}
	}
	return "", fmt.Errorf("%w: custom.metrics.k8s.io lists %d metrics of pods, none of them %s or %s", errAbsent, n, metricName, series)
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
		return served{}, fmt.Errorf("read the custom metric: %d values, want one", len(list.Items))
	}
	i := list.Items[0]
	return served{Namespace: i.Object.Namespace, Pod: i.Object.Name, Value: i.Value.AsApproximateFloat64(), At: i.Timestamp.UTC()}, nil
}

// waitValue reads the value until done reports true, or timeout. The error is that of the
// last read.
func (o *observer) waitValue(ctx context.Context, a *api, p pod, done func(served) bool) (served, error) {
	end := o.deps.Clock.Now().Add(o.timeout)
	for {
		s, err := a.value(ctx, p)
		if err == nil && done(s) || !o.deps.Clock.Now().Before(end) {
			return s, err
		}
		if err := o.pause(ctx, max(o.interval/2, 100*time.Millisecond)); err != nil {
			return s, err
		}
	}
}

// highest is the highest value of samples; 0 without any.
func highest(list []sample) float64 {
	top := 0.0
	for _, s := range list {
		top = max(top, s.Value)
	}
	return top
}
