package adapterrules

import (
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"
)

// discovery is the part of the adapter's configuration that is used here.
type discovery struct {
	Rules         []rule `json:"rules"`
	ExternalRules []rule `json:"externalRules"`
}

type rule struct {
	SeriesQuery string `json:"seriesQuery"`
	Resources   struct {
		Namespaced *bool                        `json:"namespaced,omitempty"`
		Overrides  map[string]map[string]string `json:"overrides,omitempty"`
	} `json:"resources"`
	Name struct {
		As string `json:"as"`
	} `json:"name"`
	MetricsQuery string `json:"metricsQuery"`
}

func TestRender(t *testing.T) {
	t.Parallel()
	for window, want := range map[time.Duration]string{
		5 * time.Second: "[5s]", 2 * time.Minute: "[2m]", 90 * time.Second: "[1m30s]", 1500 * time.Millisecond: "[1s500ms]",
	} {
		got, err := Render(window)
		if err != nil {
			t.Fatal(err)
		}
		var d discovery
		if err := yaml.UnmarshalStrict([]byte(got), &d); err != nil {
			t.Fatalf("%s: %v", window, err)
		}
		for _, r := range append(d.Rules, d.ExternalRules...) {
			if !strings.Contains(r.MetricsQuery, want+")") {
				t.Errorf("window %s: %s averages over %s, not %s", window, r.Name.As, r.MetricsQuery, want)
			}
		}
	}
}

func TestRenderRefuses(t *testing.T) {
	t.Parallel()
	for _, window := range []time.Duration{0, -time.Second, time.Microsecond, time.Second + time.Nanosecond} {
		if got, err := Render(window); err == nil || got != "" {
			t.Errorf("window %s was rendered", window)
		}
	}
}

// Every metric in every form, each choosing what the selector asks for.
func TestRules(t *testing.T) {
	t.Parallel()
	text, err := Render(DefaultWindow)
	if err != nil {
		t.Fatal(err)
	}
	var d discovery
	if err := yaml.UnmarshalStrict([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	series := map[string]string{"power_usage": Power, "utilization": "DCGM_FI_DEV_GPU_UTIL", "memory_used": "DCGM_FI_DEV_FB_USED"}
	want := map[string]string{
		"vllm_num_requests_running": "vllm:num_requests_running", "vllm_num_requests_waiting": "vllm:num_requests_waiting",
	}
	for name, s := range series {
		want["dcgm_gpu_"+name], want["gpu_"+name], want["workload_gpu_"+name] = s, s, s
	}
	for _, r := range append(d.Rules, d.ExternalRules...) {
		name, _, _ := strings.Cut(r.SeriesQuery, "{")
		if want[r.Name.As] != name {
			t.Errorf("%s is of %q", r.Name.As, r.SeriesQuery)
		}
		delete(want, r.Name.As)
		if !strings.Contains(r.MetricsQuery, "<<.LabelMatchers>>") {
			t.Errorf("%s applies no selector", r.Name.As)
		}
	}
	if len(want) > 0 {
		t.Errorf("no rules for %v", want)
	}
	for _, r := range d.ExternalRules {
		if r.Resources.Namespaced == nil || *r.Resources.Namespaced {
			t.Errorf("%s is only served to the namespace of its series", r.Name.As)
		}
	}
	for _, r := range d.Rules {
		if len(r.Resources.Overrides) != 2 || !strings.Contains(r.MetricsQuery, "by (<<.GroupBy>>)") {
			t.Errorf("%s is not of a pod and of a namespace: %+v", r.Name.As, r)
		}
	}
}
