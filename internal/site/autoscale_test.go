package site_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/site"
)

// withoutAutoscale is the example as sites were before the block was known.
func withoutAutoscale(t *testing.T) string {
	t.Helper()
	before, rest, ok := strings.Cut(string(site.Example()), "\nautoscale:\n")
	if !ok {
		t.Fatal("the example has no autoscale block")
	}
	_, after, ok := strings.Cut(rest, "\n\n")
	if !ok {
		t.Fatal("the block does not end")
	}
	return before + "\n" + after
}

func TestAutoscaleDefaults(t *testing.T) {
	t.Parallel()
	s, err := site.Parse("s.yaml", []byte(withoutAutoscale(t)))
	if err != nil {
		t.Fatal(err)
	}
	want := site.Autoscale{
		Autoscaler: "karpenter", Adapter: "monitoring/prometheus-adapter", Controller: "kube-system/karpenter",
		Taint: "nvidia.com/gpu=present:NoSchedule", GPUsPerReplica: 1, LoadGPUs: 4, MinReplicas: 1, MaxReplicas: 3,
		Window: site.Duration(10 * time.Second), WorkerImage: "registry.k8s.io/pause:3.10", Gang: 3,
	}
	if diff := cmp.Diff(want, s.Autoscale); diff != "" {
		t.Error(diff)
	}
	example, err := site.Parse("example.yaml", site.Example())
	if err != nil {
		t.Fatal(err)
	}
	want.NodeClass = site.NodeClass{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "gpu"}
	want.InstanceTypes = []string{"g5.xlarge", "g5.2xlarge"}
	if diff := cmp.Diff(want, example.Autoscale); diff != "" {
		t.Errorf("the example shows other defaults: %s", diff)
	}
}

// A few GPUs are enough for a site that says nothing of the chain.
func TestAutoscaleRequiresNothingOfSitesWithoutIt(t *testing.T) {
	t.Parallel()
	text := withoutAutoscale(t)
	for _, n := range []string{"02", "03", "04"} {
		at := strings.Index(text, "    - {name: gpu-"+n)
		end := at + strings.Index(text[at:], "\n") + 1
		text = text[:at] + text[end:]
	}
	text = strings.NewReplacer("nodes: 4 ", "nodes: 1 ").Replace(text)
	if _, err := site.Parse("s.yaml", []byte(text)); err != nil {
		t.Error(err)
	}
}

func TestAutoscaleMistakes(t *testing.T) {
	t.Parallel()
	const head = "\nautoscale:\n"
	tests := []struct{ name, block, want string }{
		{"unknown key", "  pool: x", `unknown key "pool"`},
		{"unknown autoscaler", "  autoscaler: magic", "not one of karpenter, cluster-autoscaler"},
		{"no deployment", "  adapter: prometheus-adapter", "must be namespace/name"},
		{"no controller", "  controller: a/b/c", "must be namespace/name"},
		{"half a node class", "  nodeClass: {kind: EC2NodeClass}", "needs group, kind and name"},
		{"a type twice", "  instanceTypes: [g5.xlarge, g5.xlarge]", "duplicate value"},
		{"groups without karpenter", "  autoscaler: cluster-autoscaler", "is missing: the labels"},
		{"a group with karpenter", "  nodeGroup: {a: b}", "a NodePool is used"},
		{"a taint without effect", "  taint: nvidia.com/gpu", "key=value:effect"},
		{"a taint that keeps nothing off", "  taint: nvidia.com/gpu:PreferNoSchedule", "not one of NoSchedule, NoExecute"},
		{"no GPUs", "  gpusPerReplica: -1", "more than zero"},
		{"more load than GPUs", "  loadGPUs: 32", "held idle"},
		{"nothing to scale to", "  maxReplicas: 1", "nothing could scale"},
		{"a target that is never met", "  target: 700", "never exceeded"},
		{"a negative target", "  target: -1", "negative"},
		{"a gang beyond measure", "  gang: 65", "2 to 64"},
		{"an unknown setting", "  settings: {hpa: 15s}", "unknown setting"},
		{"a setting without a unit", "  settings: {hpa-sync: 15}", "invalid duration"},
		{"a window without a unit", "  window: 10", "invalid duration"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			text := withoutAutoscale(t) + head + tt.block + "\n"
			_, err := site.Parse("s.yaml", []byte(text))
			invalid, ok := errors.AsType[*site.InvalidError](err)
			if !ok || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want an InvalidError with %q", err, tt.want)
			}
			last := strings.Count(text, "\n")
			for _, p := range invalid.Problems {
				if p.Line < last-1 {
					t.Errorf("problem at line %d, the block is at %d: %s", p.Line, last, p.Message)
				}
			}
		})
	}
}

func TestParseTaint(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]site.Taint{
		"nvidia.com/gpu=present:NoSchedule": {Key: "nvidia.com/gpu", Value: "present", Effect: "NoSchedule"},
		"nvidia.com/gpu:NoExecute":          {Key: "nvidia.com/gpu", Effect: "NoExecute"},
		"none":                              {},
		"":                                  {},
	} {
		got, is, err := site.ParseTaint(text)
		if err != nil || got != want || is != (want != site.Taint{}) {
			t.Errorf("%q: got %+v, %t, %v", text, got, is, err)
		}
	}
	for _, text := range []string{"=a:NoSchedule", ":NoSchedule", "a", "a:", "a=b:noschedule"} {
		if got, is, err := site.ParseTaint(text); err == nil || is {
			t.Errorf("%q was read as %+v", text, got)
		}
	}
}
