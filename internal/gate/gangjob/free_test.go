package gangjob

import (
	"slices"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/workload"
)

func TestMissing(t *testing.T) {
	t.Parallel()
	free := kube.Usage{Allocatable: 8}
	half := kube.Usage{Allocatable: 8, Requested: 4, Holders: []kube.Holder{{Namespace: "team", Pod: "train-0", Count: 4}}}
	tests := map[string]struct {
		spec  workload.Spec
		usage map[string]kube.Usage
		want  string // empty: the pods fit
	}{
		"all free":        {workload.Spec{Pods: 2, GPUs: 8, OnePerNode: true, Nodes: []string{"a", "b"}}, map[string]kube.Usage{"a": free, "b": free}, ""},
		"held by another": {workload.Spec{Pods: 2, GPUs: 8, OnePerNode: true, Nodes: []string{"a", "b"}}, map[string]kube.Usage{"a": free, "b": half}, "pod team/train-0 holds 4"},
		"held by a claim": {workload.Spec{Pods: 1, GPUs: 8, Nodes: []string{"a"}}, map[string]kube.Usage{
			"a": {Allocatable: 8, Requested: 1, Holders: []kube.Holder{{Pod: "claim team/train"}}},
		}, "a has 7 of 8 GPUs free, claim team/train holds some"},
		"one pod finds a node":   {workload.Spec{Pods: 1, GPUs: 8, Nodes: []string{"a", "b"}}, map[string]kube.Usage{"a": half, "b": free}, ""},
		"several pods on a node": {workload.Spec{Pods: 4, GPUs: 2, Nodes: []string{"a"}}, map[string]kube.Usage{"a": free}, ""},
		"one a node only":        {workload.Spec{Pods: 2, GPUs: 2, OnePerNode: true, Nodes: []string{"a"}}, map[string]kube.Usage{"a": free}, "1 of 2 pods"},
		"an unknown node":        {workload.Spec{Pods: 1, GPUs: 1, Nodes: []string{"a"}}, map[string]kube.Usage{"a": {}}, "a has no allocatable GPU"},
		"no nodes":               {workload.Spec{Pods: 1, GPUs: 1}, nil, "0 of 1 pods"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Missing(tt.spec, tt.usage)
			if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestDepsWithoutCluster(t *testing.T) {
	t.Parallel()
	if _, err := (Deps{}).Open(t.Context()); err == nil {
		t.Error("no error")
	}
	if (Deps{}).Observer(nil).Clock.Now().IsZero() {
		t.Error("no clock")
	}
}

// The nodes that lack GPUs are those of a gang that does not fit.
func TestLackingNodes(t *testing.T) {
	t.Parallel()
	usage := map[string]kube.Usage{"a": {Allocatable: 8}, "b": {Allocatable: 8, Requested: 4}, "c": {}}
	for _, tt := range []struct{ nodes, want []string }{
		{[]string{"a"}, nil}, {[]string{"a", "b"}, []string{"b"}}, {[]string{"b", "c"}, []string{"b", "c"}},
	} {
		if reason, got := missing(workload.Spec{Pods: len(tt.nodes), GPUs: 8, OnePerNode: true, Nodes: tt.nodes}, usage); !slices.Equal(got, tt.want) || (reason == "") != (tt.want == nil) {
			t.Errorf("%v: %v, %q", tt.nodes, got, reason)
		}
	}
}
