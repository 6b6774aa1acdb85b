package metric

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/probe/prom"
)

var promNow = time.Unix(1_800_000_000, 0).UTC()

func sample(value float64, labels ...string) prom.Sample {
	s := prom.Sample{Labels: map[string]string{}, At: promNow, Value: value}
	for i := 0; i+1 < len(labels); i += 2 {
		s.Labels[labels[i]] = labels[i+1]
	}
	return s
}

func TestHosts(t *testing.T) {
	t.Parallel()
	h := hosts{
		nodes: []string{"gpu-01", "gpu-02", "ip-10-0-0-3.ec2.internal"},
		byPod: map[string]string{"exporter-x": "gpu-02"}, byIP: map[string]string{"10.0.0.7": "gpu-02"},
	}
	for name, tt := range map[string]struct {
		labels map[string]string
		want   string
	}{
		"Hostname":                {map[string]string{"Hostname": "gpu-01"}, "gpu-01"},
		"hostname":                {map[string]string{"hostname": "GPU-01"}, "gpu-01"},
		"with a domain":           {map[string]string{"Hostname": "gpu-01.example.com"}, "gpu-01"},
		"a node with a domain":    {map[string]string{"Hostname": "ip-10-0-0-3"}, "ip-10-0-0-3.ec2.internal"},
		"of another domain":       {map[string]string{"Hostname": "ip-10-0-0-3.other"}, ""},
		"by its node label":       {map[string]string{"Hostname": "0a1b2c", "node": "gpu-02"}, "gpu-02"},
		"by the exporter's pod":   {map[string]string{"pod": "exporter-x"}, "gpu-02"},
		"by its address":          {map[string]string{"instance": "10.0.0.7:9400"}, "gpu-02"},
		"by its instance":         {map[string]string{"instance": "gpu-01:9400"}, "gpu-01"},
		"a user's pod says none":  {map[string]string{"pod": "train-0"}, ""},
		"nothing":                 {nil, ""},
		"a host that is not ours": {map[string]string{"Hostname": "gpu-99", "instance": "10.0.0.99:9400"}, ""},
	} {
		if got := h.of(tt.labels); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
	if got := h.target(map[string]string{"job": "dcgm"}, "http://10.0.0.7:9400/metrics"); got != "gpu-02" {
		t.Errorf("a target was taken for %q", got)
	}
}

func TestCover(t *testing.T) {
	t.Parallel()
	values := []prom.Sample{
		sample(70, "__name__", series, "Hostname", "a", "gpu", "0", "UUID", "1"),
		sample(70, "__name__", series, "Hostname", "a", "gpu", "1", "UUID", "2"),
		sample(70, "__name__", series, "Hostname", "b", "device", "nvidia0"),
		sample(70, "__name__", series, "Hostname", "z", "gpu", "0"),
	}
	stamps := []prom.Sample{
		sample(float64(promNow.Unix())-0.5, "Hostname", "a", "gpu", "0", "UUID", "1"),
		sample(float64(promNow.Unix())-60, "Hostname", "a", "gpu", "1", "UUID", "2"),
	}
	targets := []prom.Target{
		{Labels: map[string]string{"job": "dcgm-exporter", "node": "a"}, Health: "up"},
		{Labels: map[string]string{"job": "dcgm-exporter", "node": "b"}, Health: "down", LastError: "connection refused"},
		{Labels: map[string]string{"job": "node-exporter", "node": "c"}, Health: "up"},
	}
	got := cover(values, stamps, targets, map[string]int{"a": 2, "b": 1, "c": 1}, hosts{nodes: []string{"a", "b", "c"}}, 2*time.Second)
	up, down := true, false
	want := []snapshot.Coverage{
		{Node: "a", Expected: 2, Fresh: 1, Stale: 1, Up: &up, Labels: []string{"Hostname", "UUID", "gpu"}},
		{Node: "b", Expected: 1, Unlabelled: 1, Up: &down, Trouble: "connection refused", Labels: []string{"Hostname", "device"}},
		{Node: "c", Expected: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

const series = "DCGM_FI_DEV_POWER_USAGE"

// Ages are by Prometheus' clock, times by ours, however far they are apart.
func TestMade(t *testing.T) {
	t.Parallel()
	now := time.Unix(5, 0)
	values := []prom.Sample{
		sample(690, "Hostname", "b", "gpu", "3", "exported_namespace", "team", "exported_pod", "load-0", "exported_container", "load", "pod", "exporter"),
		sample(70, "Hostname", "a", "gpu", "0", "UUID", "u", "exported_pod", "holder"),
		sample(70, "instance", "10.0.0.9:9400", "gpu", "0"),
	}
	stamps := []prom.Sample{sample(float64(promNow.Unix())-3, "Hostname", "a", "gpu", "0", "UUID", "u", "exported_pod", "holder")}
	got := made(values, stamps, Exported, hosts{nodes: []string{"a", "b"}}, now)
	want := []snapshot.Sample{
		{Node: "10.0.0.9:9400", GPU: "0", Value: 70},
		{Node: "a", GPU: "0", UUID: "u", Pod: "holder", Value: 70, At: time.Unix(2, 0)},
		{Node: "b", GPU: "3", Namespace: "team", Pod: "load-0", Container: "load", Value: 690},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestQuery(t *testing.T) {
	t.Parallel()
	matchers := Selector(Plain, "team", "load")
	for template, want := range map[string]string{
		"": `avg(avg_over_time(DCGM_FI_DEV_POWER_USAGE{container="load",namespace="team"}[1m30s]))`,
		"avg(avg_over_time(<<.Series>>{<<.LabelMatchers>>,pod!~\"x\"}[5s])) by (<<.GroupBy>>)\n": `avg(avg_over_time(DCGM_FI_DEV_POWER_USAGE{container="load",namespace="team",pod!~"x"}[5s])) by (namespace)`,
		"sum(<< .Series >>{<< .LabelMatchers >>})":                                               `sum(DCGM_FI_DEV_POWER_USAGE{container="load",namespace="team"})`,
	} {
		if got := Query(template, series, matchers, "namespace", 90*time.Second); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	if diff := cmp.Diff(map[string]string{"exported_container": "load"}, Selector(Exported, "", "load")); diff != "" {
		t.Error(diff)
	}
}

// Another run's load in another namespace was taken for a part of the value.
func TestMadeInTheNamespaceAlone(t *testing.T) {
	t.Parallel()
	custom := snapshot.Metric{Form: Exported, Selector: Selector(Exported, "", "load")}
	got := inNamespace(custom, "team").Selector
	if diff := cmp.Diff(Selector(Exported, "team", "load"), got); diff != "" {
		t.Error(diff)
	}
	if _, changed := custom.Selector["exported_namespace"]; changed {
		t.Error("the metric's own selector was changed")
	}
}

func TestParseValue(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		raw  string
		want float64
	}{
		"external":          {`{"kind":"ExternalMetricValueList","items":[{"metricName":"m","value":"568500m"}]}`, 568.5},
		"several are a sum": {`{"items":[{"value":"1"},{"value":"2k"}]}`, 2001},
		"custom":            {`{"kind":"MetricValueList","items":[{"describedObject":{"kind":"Namespace"},"metric":{"name":"m"},"value":"68"}]}`, 68},
	} {
		if got, err := parseValue([]byte(tt.raw)); err != nil || got != tt.want {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
	if _, err := parseValue([]byte(`{"items":[]}`)); !errors.Is(err, errNoValue) {
		t.Errorf("an empty list: %v", err)
	}
	for _, raw := range []string{``, `<html>`, `{"items":[{"value":"x"}]}`} {
		if got, err := parseValue([]byte(raw)); err == nil || errors.Is(err, errNoValue) {
			t.Errorf("%q was read as %v, %v", raw, got, err)
		}
	}
}

func TestParseListed(t *testing.T) {
	t.Parallel()
	raw := `{"resources":[{"name":"namespaces/gpu_power_usage"},{"name":"pods/gpu_power_usage"},{"name":"namespaces/gpu_utilization"},{"name":"namespaces/up"},{"name":"dcgm_gpu_memory_used"}]}`
	got, err := parseListed([]byte(raw), snapshot.Metric{API: Custom, Name: "gpu_power_usage"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"dcgm_gpu_memory_used", "gpu_power_usage", "gpu_utilization"}, got); diff != "" {
		t.Error(diff)
	}
	if _, err := parseListed([]byte(`[]`), snapshot.Metric{}); err == nil {
		t.Error("a list was read")
	}
}

// A response of the API is a reading; a failed or forbidden request is a problem.
func TestAnswered(t *testing.T) {
	t.Parallel()
	r := schema.GroupResource{Group: "external.metrics.k8s.io", Resource: "m"}
	for name, tt := range map[string]struct {
		err    error
		answer bool
	}{
		"not found":     {apierrors.NewNotFound(r, "m"), true},
		"no adapter":    {apierrors.NewServiceUnavailable("no endpoints"), true},
		"not allowed":   {apierrors.NewForbidden(r, "m", nil), false},
		"not logged in": {apierrors.NewUnauthorized("token"), false},
		"no connection": {errors.New("connection refused"), false},
	} {
		if got := errors.Is(answered(tt.err), errNoValue); got != tt.answer {
			t.Errorf("%s: an answer %t", name, got)
		}
	}
}

func TestEvery(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ scrape, window, want time.Duration }{
		{time.Second, 10 * time.Second, 500 * time.Millisecond},
		{15 * time.Second, 30 * time.Second, 5 * time.Second},
		{time.Minute, 10 * time.Second, 2 * time.Second},
		{100 * time.Millisecond, 10 * time.Second, 250 * time.Millisecond},
	} {
		if got := Every(tt.scrape, tt.window); got != tt.want {
			t.Errorf("scraped every %s, window %s: polled every %s, want %s", tt.scrape, tt.window, got, tt.want)
		}
	}
}

func TestReadingsAreBounded(t *testing.T) {
	t.Parallel()
	var list []snapshot.Reading
	for i := range 3 * maxReadings {
		list = add(list, snapshot.Reading{Value: float64(i)})
	}
	if len(list) > maxReadings || list[len(list)-1].Value != 3*maxReadings-1 {
		t.Errorf("%d are kept, the last is %v", len(list), list[len(list)-1].Value)
	}
}
