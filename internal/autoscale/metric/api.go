package metric

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/probe/guard"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// The metrics APIs.
const (
	External = "external"
	Custom   = "custom"
)

// Group is a metrics API's group.
func Group(api string) string { return api + ".metrics.k8s.io" }

// api reads one of the metrics APIs, as the HPA does.
type api struct {
	client    rest.Interface
	metric    snapshot.Metric
	namespace string
}

func newAPI(c *kube.Cluster, m snapshot.Metric, namespace string) api {
	return api{client: c.Client.CoreV1().RESTClient(), metric: m, namespace: namespace}
}

// version is the group's preferred version.
func (a api) version(ctx context.Context) (string, error) {
	raw, err := a.client.Get().AbsPath("/apis/" + Group(a.metric.API)).DoRaw(ctx)
	if err != nil {
		return "", answered(err)
	}
	var group metav1.APIGroup
	if err := guard.JSON(raw, &group); err != nil {
		return "", fmt.Errorf("discover %s: %w", Group(a.metric.API), err)
	}
	return group.PreferredVersion.Version, nil
}

// value is the current value; for external metrics the sum, as in the HPA.
func (a api) value(ctx context.Context, version string) (float64, error) {
	chosen := labels.SelectorFromSet(a.metric.Selector).String()
	path, param := fmt.Sprintf("/apis/%s/%s/namespaces/%s/%s", Group(a.metric.API), version, a.namespace, a.metric.Name), "labelSelector"
	if a.metric.API == Custom {
		path, param = fmt.Sprintf("/apis/%s/%s/namespaces/%s/metrics/%s", Group(a.metric.API), version, a.namespace, a.metric.Name), "metricLabelSelector"
	}
	raw, err := a.client.Get().AbsPath(path).Param(param, chosen).DoRaw(ctx)
	if err != nil {
		return 0, answered(err)
	}
	return parseValue(raw)
}

// parseValue reads an ExternalMetricValueList or a MetricValueList.
func parseValue(raw []byte) (float64, error) {
	var list struct {
		Items []struct {
			Value resource.Quantity `json:"value"`
		} `json:"items"`
	}
	if err := guard.JSON(raw, &list); err != nil {
		return 0, fmt.Errorf("decode the metrics API's response: %w", err)
	}
	if len(list.Items) == 0 {
		return 0, fmt.Errorf("%w: its list is empty", errNoValue)
	}
	sum := 0.0
	for _, item := range list.Items {
		sum += item.Value.AsApproximateFloat64()
	}
	return sum, nil
}

// listed returns the names of the GPU metrics that the API lists.
func (a api) listed(ctx context.Context, version string) ([]string, error) {
	raw, err := a.client.Get().AbsPath("/apis/" + Group(a.metric.API) + "/" + version).DoRaw(ctx)
	if err != nil {
		return nil, answered(err)
	}
	return parseListed(raw, a.metric)
}

func parseListed(raw []byte, m snapshot.Metric) ([]string, error) {
	var list metav1.APIResourceList
	if err := guard.JSON(raw, &list); err != nil {
		return nil, fmt.Errorf("read the list of %s: %w", Group(m.API), err)
	}
	var out []string
	for _, r := range list.APIResources {
		name := r.Name
		if of, rest, ok := strings.Cut(r.Name, "/"); ok {
			if of != "namespaces" {
				continue // metric of another kind of object
			}
			name = rest
		}
		if (strings.Contains(name, "gpu") || name == m.Name) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out, nil
}

// answered marks an error response of the API, in contrast to an unreachable or forbidden
// API.
func answered(err error) error {
	var status apierrors.APIStatus
	if errors.As(err, &status) && status.Status().Code != 0 && !apierrors.IsForbidden(err) && !apierrors.IsUnauthorized(err) {
		return fmt.Errorf("%w: %w", errNoValue, err)
	}
	return err
}
