package embedded

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/firstlight/firstlight/internal/adapterrules"
	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/probe/prom"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/world"
)

const (
	externalAPI = "/apis/external.metrics.k8s.io/v1beta1/namespaces/"
	customAPI   = "/apis/custom.metrics.k8s.io/v1beta1/namespaces/"
)

// external reads a metric as an HPA in a namespace does.
func (b *bench) external(t *testing.T, namespace, metric, selector string) (float64, error) {
	t.Helper()
	params := map[string]string{}
	if selector != "" {
		params["labelSelector"] = selector
	}
	raw, err := b.get(t, externalAPI+namespace+"/"+metric, params)
	return single(raw, err)
}

// ofPod and ofNamespace read custom metrics as an HPA's Pods and Object metrics do.
func (b *bench) ofPod(t *testing.T, namespace, pod, metric string) (float64, error) {
	t.Helper()
	raw, err := b.get(t, customAPI+namespace+"/pods/"+pod+"/"+metric, nil)
	return single(raw, err)
}

func (b *bench) ofNamespace(t *testing.T, namespace, metric, selector string) (float64, error) {
	t.Helper()
	params := map[string]string{}
	if selector != "" {
		params["metricLabelSelector"] = selector
	}
	raw, err := b.get(t, customAPI+namespace+"/metrics/"+metric, params)
	return single(raw, err)
}

// single returns the only value of a response.
func single(raw []byte, err error) (float64, error) {
	if err != nil {
		return 0, err
	}
	var list struct {
		Items []struct {
			Value resource.Quantity `json:"value"`
		} `json:"items"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return 0, err
	}
	if len(list.Items) != 1 {
		return 0, fmt.Errorf("%d values: %w", len(list.Items), errNone)
	}
	return list.Items[0].Value.AsApproximateFloat64(), nil
}

var errNone = errors.New("not one")

// reads waits until a metric is within 3 % of want.
func reads(t *testing.T, what string, want float64, get func() (float64, error)) {
	t.Helper()
	polltest.UntilNil(t, fmt.Sprintf("%s to be %.0f", what, want), func() error {
		got, err := get()
		if err == nil && math.Abs(got-want) > 0.03*want {
			err = fmt.Errorf("got %.1f", got)
		}
		return err
	})
}

// unserved waits until a metric has no value.
func unserved(t *testing.T, what string, get func() (float64, error)) {
	t.Helper()
	polltest.UntilNil(t, what+" not to be served", func() error {
		got, err := get()
		switch {
		case apierrors.IsNotFound(err), errors.Is(err, errNone):
			return nil
		case err == nil:
			return fmt.Errorf("got %.1f", got)
		default:
			return err
		}
	})
}

// Power of GPUs: idle, and under dcgmproftester.
const (
	restWatts = 68.
	loadWatts = restWatts + 0.99*(700-restWatts)
)

// The rules in the real adapter with the real Prometheus.
func testRules(t *testing.T, b *bench) {
	b.namespace(t, "team")
	b.namespace(t, "noise")
	_, endHolder := b.run(t, gpuPod{namespace: "team", name: "holder", container: "load", node: "gpu-02", gpus: 1})
	other, endOther := b.run(t, gpuPod{namespace: "team", name: "other", container: "other", node: "gpu-02", gpus: 2})
	_, endNoise := b.run(t, gpuPod{namespace: "noise", name: "noise", container: "load", node: "gpu-02", gpus: 1, busy: true})
	selected := func() (float64, error) {
		return b.external(t, "default", "dcgm_gpu_power_usage", "namespace=team,container=load")
	}
	inNamespace := func() (float64, error) { return b.ofNamespace(t, "team", "gpu_power_usage", "container=load") }

	reads(t, "the power of the holder", restWatts, selected)
	reads(t, "... as a custom metric", restWatts, inNamespace)

	pod, endLoad := b.run(t, gpuPod{namespace: "team", name: "load", container: "load", node: "gpu-01", gpus: 4, busy: true})
	mixed := (restWatts + 4*loadWatts) / 5
	reads(t, "the power of load and holder", mixed, selected)
	reads(t, "... as a custom metric", mixed, inNamespace)
	reads(t, "the power of the whole namespace", (3*restWatts+4*loadWatts)/7, func() (float64, error) { return b.ofNamespace(t, "team", "gpu_power_usage", "") })
	reads(t, "the power of the load's pod", loadWatts, func() (float64, error) { return b.ofPod(t, "team", pod, "gpu_power_usage") })
	reads(t, "the power of an idle pod", restWatts, func() (float64, error) { return b.ofPod(t, "team", other, "gpu_power_usage") })
	reads(t, "the power of all 16 GPUs", (11*restWatts+5*loadWatts)/16, func() (float64, error) { return b.external(t, "noise", "dcgm_gpu_power_usage", "") })
	reads(t, "the load's utilisation", 100, func() (float64, error) { return b.ofPod(t, "team", pod, "gpu_utilization") })
	reads(t, "utilisation of the load", 80, func() (float64, error) {
		return b.external(t, "team", "dcgm_gpu_utilization", "namespace=team,container=load")
	})
	reads(t, "the load's memory", 4400, func() (float64, error) { return b.ofPod(t, "team", pod, "gpu_memory_used") })
	reads(t, "memory of the load", 4400, func() (float64, error) {
		return b.external(t, "team", "dcgm_gpu_memory_used", "namespace=team,pod="+pod)
	})
	// Idle GPUs have no user, although their series have the exporter's pod.
	unserved(t, "the exporters' power", func() (float64, error) { return b.ofNamespace(t, "gpu-operator", "gpu_power_usage", "") })
	unserved(t, "the other form", func() (float64, error) { return b.ofNamespace(t, "team", "workload_gpu_power_usage", "") })
	unserved(t, "power of an unused namespace", func() (float64, error) { return b.external(t, "team", "dcgm_gpu_power_usage", "namespace=unused") })

	t.Run("Stale", func(t *testing.T) {
		defer b.fault(t, world.Fault{Kind: "stale-series", Target: "gpu-02"})()
		reads(t, "the power without the stale holder", loadWatts, selected)
	})
	// Prometheus does not end series with explicit timestamps: a scrape without them must precede
	// the change of labels.
	reads(t, "the power with the holder back", mixed, selected)
	t.Run("Lower case hostname", func(t *testing.T) {
		suite.Require(t, suite.All)
		defer b.fault(t, world.Fault{Kind: "host-label-lowercase"})()
		reads(t, "the power on gpu-01", (4*restWatts+4*loadWatts)/8, func() (float64, error) {
			return b.external(t, "team", "dcgm_gpu_power_usage", "hostname=gpu-01")
		})
		reads(t, "the power of load and holder", mixed, selected)
		reads(t, "... as a custom metric", mixed, inNamespace)
	})
	b.oneSeriesAGPU(t)
	t.Run("Exported", func(t *testing.T) {
		suite.Require(t, suite.All)
		defer b.fault(t, world.Fault{Kind: "honor-labels-off"})()
		reads(t, "the power of load and holder", mixed, func() (float64, error) {
			return b.external(t, "default", "dcgm_gpu_power_usage", "exported_namespace=team,exported_container=load")
		})
		reads(t, "... as a custom metric", mixed, func() (float64, error) {
			return b.ofNamespace(t, "team", "workload_gpu_power_usage", "exported_container=load")
		})
		reads(t, "the power of the load's pod", loadWatts, func() (float64, error) { return b.ofPod(t, "team", pod, "workload_gpu_power_usage") })
		unserved(t, "the exporters' power", func() (float64, error) { return b.ofNamespace(t, "gpu-operator", "gpu_power_usage", "") })
		unserved(t, "the other form", func() (float64, error) { return b.ofNamespace(t, "team", "gpu_power_usage", "") })
		b.oneSeriesAGPU(t)
	})
	b.oneSeriesAGPU(t)
	reads(t, "the power with the labels back", mixed, selected)
	endLoad()
	reads(t, "the power without the load", restWatts, selected)
	reads(t, "... as a custom metric", restWatts, inNamespace)
	endOther()
	endNoise()
	endHolder()
	unserved(t, "the power of nothing", selected)
}

// oneSeriesAGPU waits until Prometheus has exactly one series for each of the 16 GPUs: series with
// previous labels end at once, not after five minutes.
func (b *bench) oneSeriesAGPU(t *testing.T) {
	t.Helper()
	st, err := b.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	client, err := prom.Connect(prom.Endpoint{URL: st.Info.PrometheusURL, CAFile: st.Info.CA, CertFile: st.Info.ClientCert, KeyFile: st.Info.ClientKey}, b.Cluster)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	polltest.UntilNil(t, "one series a GPU", func() error {
		list, _, err := prom.Prometheus{Client: client}.Query(t.Context(), adapterrules.Power, time.Time{})
		if err == nil && len(list) != 16 {
			err = fmt.Errorf("%d series", len(list))
		}
		return err
	})
}
