package servicemetrics

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/prom"
)

func TestMetricOf(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		raw, want string
	}{
		"ours":                         {`{"resources":[{"name":"namespaces/x"},{"name":"pods/gpu_utilization"},{"name":"pods/vllm_num_requests_running"}]}`, "vllm_num_requests_running"},
		"an adapter's own rules":       {`{"resources":[{"name":"pods/vllm:num_requests_running"}]}`, "vllm:num_requests_running"},
		"of namespaces only":           {`{"resources":[{"name":"namespaces/vllm_num_requests_running"}]}`, ""},
		"another":                      {`{"resources":[{"name":"pods/vllm_num_requests_waiting"}]}`, ""},
		"an API that serves nothing":   {`{"resources":[]}`, ""},
		"no list":                      {`<html>`, ""},
		"served, as custom.metrics.is": {`{}`, ""},
	} {
		got, err := metricOf([]byte(tt.raw))
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
}

func TestParseServed(t *testing.T) {
	t.Parallel()
	got, err := parseServed([]byte(`{"items":[{"describedObject":{"kind":"Pod","namespace":"ns","name":"p"},"metricName":"m","timestamp":"2026-11-21T01:42:33Z","value":"3500m"}]}`))
	if err != nil || got.Value != 3.5 || got.Pod != "p" || got.Namespace != "ns" || got.At.IsZero() {
		t.Error(got, err)
	}
	for _, raw := range []string{``, `{}`, `{"items":[]}`, `{"items":[{},{}]}`, `{"items":[{"value":"x"}]}`, `[]`} {
		if got, err := parseServed([]byte(raw)); err == nil {
			t.Errorf("%q was read as %+v", raw, got)
		}
	}
}

func FuzzParseServed(f *testing.F) {
	f.Add([]byte(`{"items":[{"describedObject":{"kind":"Pod","namespace":"ns","name":"p"},"timestamp":"2026-11-21T01:42:33Z","value":"3500m"}]}`))
	f.Add([]byte(`{"resources":[{"name":"pods/vllm_num_requests_running"}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if s, err := parseServed(raw); err != nil && s != (served{}) {
			t.Errorf("%+v with %v", s, err)
		}
		if name, err := metricOf(raw); (name == "") == (err == nil) {
			t.Errorf("%q with %v", name, err)
		}
	})
}

func TestOf(t *testing.T) {
	t.Parallel()
	p := pod{Namespace: "ns", Name: "p", IP: "10.244.0.7"}
	for name, tt := range map[string]struct {
		labels map[string]string
		want   bool
	}{
		"named":            {map[string]string{"namespace": "ns", "pod": "p"}, true},
		"by its address":   {map[string]string{"instance": "10.244.0.7:8000"}, true},
		"exported":         {map[string]string{"exported_namespace": "ns", "exported_pod": "p", "pod": "x"}, true},
		"of another space": {map[string]string{"namespace": "other", "pod": "p"}, false},
		"another's":        {map[string]string{"namespace": "ns", "pod": "q", "instance": "10.244.0.8:8000"}, false},
		"nobody's":         {nil, false},
	} {
		if isOf(tt.labels, p) != tt.want {
			t.Error(name)
		}
	}
}

func TestMarks(t *testing.T) {
	t.Parallel()
	m, ok := annotationMark(prom.Config{Jobs: []prom.Job{{Name: "kubelet"}, {Name: "pods", Keeps: []string{scrapeSource}}}})
	if !ok || m.Where != "job pods" || m.Key != scrapeAnnotation {
		t.Error(m, ok)
	}
	if m, ok := annotationMark(prom.Config{Jobs: []prom.Job{{Name: "kubelet", Keeps: []string{"__meta_kubernetes_node_name"}}}}); ok {
		t.Error(m)
	}
	var list []unstructured.Unstructured
	for _, text := range []string{
		`{metadata: {name: none}, spec: {}}`,
		`{metadata: {name: hard}, spec: {podMonitorSelector: {matchExpressions: [{key: a, operator: Exists}]}}}`,
		`{metadata: {name: k8s, namespace: monitoring}, spec: {podMonitorSelector: {matchLabels: {release: stack}}}}`,
	} {
		var o map[string]any
		if err := yaml.Unmarshal([]byte(text), &o); err != nil {
			t.Fatal(err)
		}
		list = append(list, unstructured.Unstructured{Object: o})
	}
	m, ok = monitorMark(list, nil)
	if !ok || m.Where != "Prometheus monitoring/k8s" || m.Own["release"] != "stack" {
		t.Error(m, ok)
	}
	if m, ok := monitorMark(list[:2], nil); ok {
		t.Error(m)
	}
	made := monitor(m, "ns", "r1")
	if labels := made.GetLabels(); labels["release"] != "stack" || labels["firstlight.dev/run"] != "r1" {
		t.Error(labels)
	}
	if _, ok := any(made).(runtime.Object); !ok {
		t.Error("no object")
	}
}

// Thanos Querier, Mimir and Amazon's managed Prometheus have no /api/v1/status/config: PodMonitors are found without it.
func TestMarkWithoutConfiguration(t *testing.T) {
	t.Parallel()
	operator := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "monitoring.coreos.com/v1", "kind": "Prometheus", "metadata": map[string]any{"name": "k8s", "namespace": "monitoring"},
		"spec": map[string]any{"podMonitorSelector": map[string]any{"matchLabels": map[string]any{"release": "stack"}}, "podMonitorNamespaceSelector": map[string]any{}},
	}}
	for name, tt := range map[string]struct {
		status  int
		objects []runtime.Object
		want    string // Where of the mark
	}{
		"not served":                  {404, []runtime.Object{operator}, "Prometheus monitoring/k8s"},
		"not served, and no operator": {404, nil, ""},
		"not permitted":               {403, []runtime.Object{operator}, ""},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(tt.status) }))
		t.Cleanup(server.Close)
		client, err := prom.Connect(prom.Endpoint{URL: server.URL}, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(client.Close)
		dynamic := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{operatorKind("prometheuses"): "PrometheusList"}, tt.objects...)
		o := &observer{Check: &Check{}, prom: prom.Prometheus{Client: client}, cluster: &kube.Cluster{Dynamic: dynamic}}
		if m, err := o.findMark(t.Context()); m.Where != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
}

// prometheus-operator: a Prometheus without podMonitorNamespaceSelector looks in its own namespace only. On OpenShift the first one by
// name selects namespaces of the platform only.
func TestPrometheusesThatDoNotLookInTheNamespaceAreSkipped(t *testing.T) {
	t.Parallel()
	read := func(namespace, selector string) unstructured.Unstructured {
		var o map[string]any
		if err := yaml.Unmarshal([]byte(`{metadata: {name: p, namespace: `+namespace+`}, spec: {podMonitorSelector: {}`+selector+`}}`), &o); err != nil {
			t.Fatal(err)
		}
		return unstructured.Unstructured{Object: o}
	}
	ns := kube.RunNamespace("firstlight-r", kube.Labels("r", ""), nil)
	for name, tt := range map[string]struct {
		list []unstructured.Unstructured
		want string
	}{
		"its own only":                   {[]unstructured.Unstructured{read("monitoring", "")}, ""},
		"its own, which is the run's":    {[]unstructured.Unstructured{read("firstlight-r", "")}, "Prometheus firstlight-r/p"},
		"all":                            {[]unstructured.Unstructured{read("monitoring", ", podMonitorNamespaceSelector: {}")}, "Prometheus monitoring/p"},
		"those with another label":       {[]unstructured.Unstructured{read("monitoring", ", podMonitorNamespaceSelector: {matchLabels: {tenant: a}}")}, ""},
		"those with the run's label":     {[]unstructured.Unstructured{read("monitoring", ", podMonitorNamespaceSelector: {matchExpressions: [{key: firstlight.dev/run, operator: Exists}]}")}, "Prometheus monitoring/p"},
		"the second, as on OpenShift":    {[]unstructured.Unstructured{read("openshift-monitoring", ", podMonitorNamespaceSelector: {matchLabels: {openshift.io/cluster-monitoring: 'true'}}"), read("user", ", podMonitorNamespaceSelector: {}")}, "Prometheus user/p"},
		"a selector that is not legible": {[]unstructured.Unstructured{read("monitoring", ", podMonitorNamespaceSelector: {matchExpressions: [{key: a, operator: No}]}")}, ""},
	} {
		if m, ok := monitorMark(tt.list, ns); m.Where != tt.want || ok != (tt.want != "") {
			t.Errorf("%s: %+v, want %q", name, m, tt.want)
		}
	}
}

func TestNote(t *testing.T) {
	t.Parallel()
	var w watch
	one := []sample{{Value: 1}}
	w.add(at(0), one)
	w.add(at(1), nil)
	w.add(at(2), one) // a gap is not the end
	w.add(at(3), nil)
	w.add(at(4), nil)
	if w.Queries != 5 || !w.First.Equal(at(0)) || !w.AbsentSince.Equal(at(3)) || len(w.Series) != 0 || !w.To.Equal(at(4)) {
		t.Errorf("%+v", w)
	}
}

func TestRunsInOneNamespaceShareNoPodMonitor(t *testing.T) {
	t.Parallel()
	one, two := monitor(mark{By: byPodMonitor}, "acceptance", "a"), monitor(mark{By: byPodMonitor}, "acceptance", "b")
	if one.GetName() == two.GetName() || one.GetName() != monitorName("a") {
		t.Errorf("%s and %s", one.GetName(), two.GetName())
	}
}
