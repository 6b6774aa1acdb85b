package telemetry

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/prom"
	"github.com/firstlight/firstlight/internal/site"
)

// clusterOf is a cluster whose Jobs get their pods at once, each on a node of its own of
// those that the Job names.
func clusterOf(t *testing.T, names []string, gpus int64) *kube.Cluster {
	t.Helper()
	client := fake.NewClientset()
	for _, name := range names {
		if _, err := client.CoreV1().Nodes().Create(t.Context(), &corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Status: corev1.NodeStatus{Allocatable: corev1.ResourceList{kube.GPUResource: *resource.NewQuantity(gpus, resource.DecimalSI)},
				Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
		}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	client.PrependReactor("create", "namespaces", func(a clienttesting.Action) (bool, runtime.Object, error) {
		ns := a.(clienttesting.CreateAction).GetObject().(*corev1.Namespace)
		return false, nil, client.Tracker().Add(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default", Namespace: ns.Name}})
	})
	client.PrependReactor("create", "jobs", func(a clienttesting.Action) (bool, runtime.Object, error) {
		job := a.(clienttesting.CreateAction).GetObject().(*batchv1.Job)
		spec := job.Spec.Template.Spec
		on := spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchExpressions[0].Values
		for i := range int(*job.Spec.Completions) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
				Namespace: job.Namespace, Name: fmt.Sprintf("%s-%d", job.Name, i),
				Labels: map[string]string{batchv1.JobNameLabel: job.Name, batchv1.JobCompletionIndexAnnotation: fmt.Sprint(i)},
			}, Spec: *spec.DeepCopy(), Status: corev1.PodStatus{Phase: corev1.PodRunning}}
			pod.Spec.NodeName = on[i]
			if err := client.Tracker().Add(pod); err != nil {
				return true, nil, err
			}
		}
		return false, nil, nil
	})
	client.PrependReactor("delete-collection", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
		selector := a.(clienttesting.DeleteCollectionAction).GetListRestrictions().Labels
		list, err := client.Tracker().List(a.GetResource(), corev1.SchemeGroupVersion.WithKind("Pod"), a.GetNamespace())
		if err != nil {
			return true, nil, err
		}
		for _, p := range list.(*corev1.PodList).Items {
			if !selector.Matches(labels.Set(p.Labels)) {
				continue
			}
			if err := client.Tracker().Delete(a.GetResource(), p.Namespace, p.Name); err != nil {
				return true, nil, err
			}
		}
		return true, nil, nil
	})
	return &kube.Cluster{Client: client}
}

// exporters answer Prometheus' queries with what runs in the cluster: the first GPUs of a
// node are those of its pod. hostOf is what the exporter of a node says it is on.
func exporters(t *testing.T, g *Gate, cluster *kube.Cluster, hostOf func(node string) string) prom.Prometheus {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		type sample struct {
			Metric map[string]string `json:"metric"`
			Value  [2]any            `json:"value"`
		}
		var result []sample
		pods, err := cluster.Client.CoreV1().Pods("").List(r.Context(), metav1.ListOptions{})
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		at := 1.8e9
		for _, node := range g.nodes {
			for i := range g.gpus {
				s := sample{Metric: map[string]string{"UUID": fmt.Sprintf("GPU-%s-%d", node, i), "gpu": fmt.Sprint(i), "Hostname": hostOf(node), "instance": node + ":9400", "namespace": "gpu-operator", "pod": "exporter-" + node}}
				value := "0"
				for _, p := range pods.Items {
					if q := p.Spec.Containers[0].Resources.Limits[kube.GPUResource]; p.Spec.NodeName == node && i < int(q.Value()) {
						value, s.Metric["namespace"], s.Metric["pod"] = "97", p.Namespace, p.Name
					}
				}
				s.Value = [2]any{at, value}
				stamp := sample{Metric: maps.Clone(s.Metric), Value: [2]any{at, fmt.Sprint(int64(at))}}
				stamp.Metric[timeLabel] = "true"
				result = append(result, s, stamp)
			}
		}
		json.NewEncoder(w).Encode(map[string]any{"status": "success", "data": map[string]any{"resultType": "vector", "result": result}}) //nolint:errcheck // a test server
	}))
	t.Cleanup(server.Close)
	client, err := prom.Connect(prom.Endpoint{URL: server.URL}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return prom.Prometheus{Client: client}
}

// Loads are put on and taken off, another number of GPUs of each node first; two exporters
// with each other's host name are seen by it, both, and no further load is put on.
func TestLoads(t *testing.T) {
	t.Parallel()
	same := func(node string) string { return node }
	swapped := func(node string) string {
		return map[string]string{"gpu-01": "gpu-02", "gpu-02": "gpu-01", "gpu-03": "gpu-03"}[node]
	}
	for name, tt := range map[string]struct {
		hostOf   func(string) string
		gpus     int
		targets  string // of the loads, in order
		suspects []string
	}{
		"healthy":           {same, 8, "partial-1 cluster", nil},
		"healthy, one GPU":  {same, 1, "partial-1 partial-2 cluster", nil},
		"swapped":           {swapped, 8, "partial-1", []string{"gpu-01", "gpu-02"}},
		"swapped, two GPUs": {swapped, 2, "partial-1", []string{"gpu-01", "gpu-02"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := gate(t)
			g.nodes, g.gpus, g.deps.RunID = []string{"gpu-01", "gpu-02", "gpu-03"}, tt.gpus, "r1"
			g.telemetry.ScrapeInterval = site.Duration(10 * time.Millisecond)
			cluster := clusterOf(t, g.nodes, int64(tt.gpus))
			p := exporters(t, g, cluster, tt.hostOf)
			var rec recorder
			idle, complete, err := g.observeIdle(t.Context(), p, &rec)
			if err != nil || !complete {
				t.Fatal(complete, err)
			}
			if err := g.observeAnswers(t.Context(), p, &rec); err != nil {
				t.Fatal(err)
			}
			if err := g.observeLoads(t.Context(), cluster, p, idle, &rec); err != nil {
				t.Fatal(err)
			}
			var targets []string
			for _, o := range check.OfKind(rec.obs, kindLoad) {
				targets = append(targets, o.Target)
			}
			if got := strings.Join(targets, " "); got != tt.targets {
				t.Errorf("loads %s, want %s", got, tt.targets)
			}
			left, err := cluster.Client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
			if err != nil || len(left.Items) > 0 {
				t.Errorf("%v: %d pods are left", err, len(left.Items))
			}
			var b check.Builder
			if idle, ok := g.judgeIdle(&b, rec.obs); ok {
				g.judgeAnswers(&b, rec.obs)
				g.judgeLoaded(&b, rec.obs, idle)
			}
			var suspects []string
			findings := b.Judgement("followed").Findings
			for _, f := range findings {
				suspects = append(suspects, f.Suspect)
			}
			slices.Sort(suspects)
			if suspects = slices.Compact(suspects); !slices.Equal(suspects, tt.suspects) {
				t.Errorf("suspects %v, want %v: %+v", suspects, tt.suspects, findings)
			}
			if j := plan.Judge(g, rec.obs); (j.Verdict == check.Failed) != (len(tt.suspects) > 0) {
				t.Errorf("%s: %s", j.Verdict, j.Reason)
			}
		})
	}
}

// The series of a load name its pods with their namespace: that of the gang, which an
// administrator may have created.
func TestLoadIsComparedInTheNamespaceOfItsPods(t *testing.T) {
	t.Parallel()
	g := gate(t)
	g.nodes, g.gpus, g.deps.RunID = []string{"gpu-01", "gpu-02"}, 1, "r1"
	g.telemetry.ScrapeInterval = site.Duration(10 * time.Millisecond)
	cluster := clusterOf(t, g.nodes, 1).In("team-a")
	p := exporters(t, g, cluster, func(node string) string { return node })
	var rec recorder
	if err := g.observeLoads(t.Context(), cluster, p, seriesFigures{}, &rec); err != nil {
		t.Fatal(err)
	}
	loads := check.OfKind(rec.obs, kindLoad)
	if len(loads) == 0 {
		t.Fatal("no load")
	}
	for _, o := range loads {
		f, err := check.Decode[loadFigures](o)
		if err != nil || f.Namespace != "team-a" {
			t.Errorf("%s: namespace %q, %v", o.Target, f.Namespace, err)
		}
	}
}
