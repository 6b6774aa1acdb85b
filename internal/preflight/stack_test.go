package preflight

import (
	"errors"
	"testing"

	"github.com/firstlight/firstlight/internal/site"
	"github.com/firstlight/firstlight/internal/workload"
)

func TestJudgeStack(t *testing.T) {
	t.Parallel()
	s := site.GPUStack{Namespace: "gpu-operator", ClusterPolicy: "policy", Operands: []string{"a", "b"}, GangScheduler: "auto"}
	for name, tt := range map[string]struct {
		f    stackFacts
		want []string
	}{
		"healthy":     {stackFacts{operands: []string{"b", "a", "c"}}, nil},
		"no policy":   {stackFacts{operands: []string{"a", "b"}, policyErr: notFound()}, []string{"would-stop GPU Operator ClusterPolicy policy: does not exist"}},
		"unread":      {stackFacts{operands: []string{"a", "b"}, policyErr: errors.New("down")}, []string{"unobserved GPU Operator ClusterPolicy policy: down"}},
		"no operand":  {stackFacts{operands: []string{"a"}}, []string{"would-stop GPU Operator namespace gpu-operator: has no DaemonSet b"}},
		"sets unread": {stackFacts{err: errors.New("down")}, []string{"unobserved GPU Operator namespace gpu-operator: down"}},
	} {
		require(t, name, judgeStack(tt.f, s), tt.want...)
	}
	for name, tt := range map[string]struct {
		f    gangFacts
		want []string
	}{
		"native":   {gangFacts{found: []workload.Detected{{Name: "native", API: "scheduling.k8s.io/v1alpha2"}}}, nil},
		"none":     {gangFacts{}, []string{"would-stop gang scheduler auto: none"}},
		"unread":   {gangFacts{err: errors.New("down")}, []string{"unobserved gang scheduler auto: down"}},
		"no queue": {gangFacts{found: []workload.Detected{{Name: "kai", API: "scheduling.run.ai/v2alpha2"}}}, []string{"would-stop gang scheduler auto: requires a queue"}},
	} {
		line, scheduler := judgeGang(tt.f, s)
		require(t, name, []Line{line}, tt.want...)
		if (scheduler == nil) != (len(tt.want) > 0) {
			t.Errorf("%s: scheduler %v", name, scheduler)
		}
	}
}
