package prom

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func configAnswer(t *testing.T, yaml string) []byte {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"status": "success", "data": map[string]string{"yaml": yaml}})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestParseConfig(t *testing.T) {
	t.Parallel()
	got, err := ParseConfig(configAnswer(t, `
global: {scrape_interval: 15s, external_labels: {cluster: a}}
scrape_configs:
- job_name: serviceMonitor/gpu-operator/nvidia-dcgm-exporter/0
  honor_labels: true
  scrape_interval: 1m30s
  authorization: {type: Bearer, credentials: <secret>}
- job_name: pods
  relabel_configs:
  - {source_labels: [__meta_kubernetes_pod_annotation_prometheus_io_scrape], regex: "true", action: keep}
  - {source_labels: [__meta_kubernetes_pod_phase], regex: Failed, action: drop}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := Config{ScrapeInterval: 15 * time.Second, External: map[string]string{"cluster": "a"}, Jobs: []Job{
		{Name: "serviceMonitor/gpu-operator/nvidia-dcgm-exporter/0", ScrapeInterval: 90 * time.Second, HonorLabels: true},
		{Name: "pods", ScrapeInterval: 15 * time.Second, Keeps: []string{"__meta_kubernetes_pod_annotation_prometheus_io_scrape"}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if j, ok := got.Job("pods"); !ok || j.HonorLabels {
		t.Error(j, ok)
	}
	if _, ok := got.Job("none"); ok {
		t.Error("a missing job was found")
	}
	silent, err := ParseConfig(configAnswer(t, "scrape_configs: []"))
	if err != nil || silent.ScrapeInterval != time.Minute {
		t.Error(silent, err)
	}
}

func TestParseConfigRefuses(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string][]byte{
		"nothing":       nil,
		"no answer":     []byte(`<html>`),
		"no data":       []byte(`{"status":"success"}`),
		"no yaml":       []byte(`{"status":"success","data":{}}`),
		"another shape": []byte(`{"status":"success","data":[]}`),
		"broken yaml":   configAnswer(t, "a: [b"),
		"no span":       configAnswer(t, "global: {scrape_interval: often}"),
		"no job's span": configAnswer(t, "scrape_configs: [{job_name: a, scrape_interval: x}]"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, err := ParseConfig(raw); err == nil {
				t.Errorf("read as %+v", got)
			}
		})
	}
}
