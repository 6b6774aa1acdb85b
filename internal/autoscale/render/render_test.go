package render

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/golden"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/workload"
)

func values() Values {
	pool, zero, short := PoolNames("r1", false)
	return Values{
		Run: "r1", Namespace: "firstlight-r1", Pool: pool, Zero: zero, Short: short,
		Select:    map[string]string{PoolLabel: pool},
		NodeClass: site.NodeClass{Group: "karpenter.kwok.sh", Kind: "KWOKNodeClass", Name: "default"}, InstanceTypes: []string{"g5.xlarge", "g5.2xlarge"},
		Taint: site.Taint{Key: "nvidia.com/gpu", Value: "present", Effect: "NoSchedule"}, Tainted: true,
		GPUs: 1, NodeGPUs: 1, LoadGPUs: 4, Min: 1, Max: 3, Gang: 3, ShortGPUs: 2, Nodes: []string{"gpu-01", "gpu-02"},
		Metric: snapshot.Metric{API: "external", Name: "dcgm_gpu_power_usage", Selector: map[string]string{"namespace": "firstlight-r1", "container": "load"}},
		Target: 207.5, Stabilization: 5 * time.Second, ConsolidateAfter: 2 * time.Second,
		WorkerImage: "registry.k8s.io/pause:3.10", LoadImage: "nvcr.io/nvidia/cloud-native/dcgm:4.4.2-1-ubuntu22.04", LoadFor: time.Hour,
	}
}

// everything is all objects of a run, as they are created.
func everything(v Values, scheduler workload.Scheduler) []metav1.Object {
	var out []metav1.Object
	add := func(list []*unstructured.Unstructured) {
		for _, o := range list {
			out = append(out, o)
		}
	}
	add(Pools(v))
	add(Queues(v))
	out = append(out, Deployment(v), HPA(v), HolderJob(v), LoadJob(v))
	if v.Zero == "" {
		return out
	}
	out = append(out, Zero(v), ShortPool(v))
	for _, m := range []Members{Gang(v, scheduler), ShortGang(v, scheduler)} {
		add(m.Groups)
		if m.Job != nil {
			out = append(out, m.Job)
		}
		for _, p := range m.Pods {
			out = append(out, p)
		}
	}
	return out
}

func variants() map[string]struct {
	values    Values
	scheduler workload.Scheduler
} {
	custom := values()
	custom.Namespace = "team-a"
	custom.Metric = snapshot.Metric{API: "custom", Name: "workload_gpu_power_usage", Selector: map[string]string{"exported_container": "load"}}
	custom.Tainted, custom.InstanceTypes, custom.GPUs = false, nil, 2
	kai := values()
	kai.Queue = QueueName("r1")
	kai.Pool, kai.Zero, kai.Short = PoolNames("20261121-101923-a413", true)
	kai.Select = map[string]string{PoolLabel: kai.Pool}
	group := values()
	group.Pool, group.Zero, group.Short, group.Select, group.Gang = "gpu", "", "", map[string]string{"cloud.google.com/gke-nodepool": "gpu"}, 0
	stay := values()
	stay.Pool, stay.Zero, stay.Short, stay.Select, stay.Gang, stay.Stay, stay.GPUs = "", "", "", nil, 0, true, 0
	return map[string]struct {
		values    Values
		scheduler workload.Scheduler
	}{
		"stay":       {stay, nil},
		"external":   {values(), workload.Native{}},
		"custom":     {custom, workload.Native{}},
		"kai":        {kai, workload.KAI{Queue: kai.Queue}},
		"node-group": {group, nil},
	}
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for name, v := range variants() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := v.values.Validate(); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			for _, o := range everything(v.values, v.scheduler) {
				text, err := yaml.Marshal(o)
				if err != nil {
					t.Fatal(err)
				}
				out.WriteString("---\n")
				out.Write(text)
			}
			golden.Compare(t, "testdata/"+name+".golden", out.String())
		})
	}
}

// An object without the run's label would never be removed.
func TestEverythingIsLabelled(t *testing.T) {
	t.Parallel()
	for name, v := range variants() {
		for _, o := range everything(v.values, v.scheduler) {
			if o.GetLabels()[kube.LabelRun] != "r1" || o.GetLabels()[kube.LabelGate] != Gate {
				t.Errorf("%s: %s has the labels %v", name, o.GetName(), o.GetLabels())
			}
			if ns := o.GetNamespace(); ns != "" && ns != v.values.Namespace {
				t.Errorf("%s: %s is in %s", name, o.GetName(), ns)
			}
		}
	}
}

func TestPoolNames(t *testing.T) {
	t.Parallel()
	const run = "20261121-101923-a413"
	if pool, zero, short := PoolNames(run, false); pool != "firstlight-"+run || zero != pool+"-zero" || short != pool+"-short" {
		t.Error(pool, zero, short)
	}
	if pool, _, _ := PoolNames(run, true); pool != "fl-a413" {
		t.Error(pool)
	}
}

func TestPoolLimit(t *testing.T) {
	t.Parallel()
	v := values()
	if got := PoolLimit(v); got != 6 {
		t.Errorf("3 replicas and a gang of 3 may have %d GPUs", got)
	}
	v.NodeGPUs = 8
	if got := PoolLimit(v); got != 48 {
		t.Errorf("on nodes of 8 they may have %d GPUs", got)
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Values){
		"no run":       func(v *Values) { v.Run = "" },
		"no namespace": func(v *Values) { v.Namespace = "" },
		"no selector":  func(v *Values) { v.Select = nil },
		"no metric":    func(v *Values) { v.Metric.Selector = nil },
		"no nodes":     func(v *Values) { v.Nodes = nil },
		"no target":    func(v *Values) { v.Target = 0 },
		"no room":      func(v *Values) { v.Max = 1 },
		"no load":      func(v *Values) { v.LoadGPUs = 0 },
	} {
		v := values()
		change(&v)
		if err := v.Validate(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestPodsHaveThePatchesOfTheSite(t *testing.T) {
	t.Parallel()
	v := values()
	v.Patches = []map[string]any{{"spec": map[string]any{
		"tolerations": []any{map[string]any{"key": "sku", "value": "gpu"}}, "imagePullSecrets": []any{map[string]any{"name": "registry"}},
	}}}
	if err := v.Validate(); err != nil {
		t.Fatal(err)
	}
	stay := v
	stay.Stay = true
	for name, pod := range map[string]corev1.PodSpec{
		"holder": HolderJob(v).Spec.Template.Spec, "load": LoadJob(v).Spec.Template.Spec, "worker": Deployment(v).Spec.Template.Spec,
		"worker that stays": Deployment(stay).Spec.Template.Spec, "pod of the NodePool with limit 0": Zero(v).Spec,
	} {
		if len(pod.ImagePullSecrets) != 1 || !slices.ContainsFunc(pod.Tolerations, func(x corev1.Toleration) bool { return x.Key == "sku" }) {
			t.Errorf("%s: %+v", name, pod)
		}
	}
	v.Patches = []map[string]any{{"spec": map[string]any{"priorityClassName": "high"}}}
	if err := v.Validate(); err == nil || !strings.Contains(err.Error(), "priorityClassName") {
		t.Errorf("%v", err)
	}
}
