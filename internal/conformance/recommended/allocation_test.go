package recommended

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/conformance/dra/testpod"
	"github.com/firstlight/firstlight/internal/conformance/submission"
)

func healthyAllocation() allocation {
	return allocation{
		Resource: "rdma/ib", More: 9,
		One: testpod.Status{Pod: "ns/one", Node: "gpu-01", Phase: "Running", Containers: []testpod.ContainerStatus{{Running: true}}},
		TooMany: testpod.Status{Pod: "ns/too-many", Phase: "Pending", Scheduled: testpod.Scheduled{
			Status: "False", Reason: "Unschedulable", Message: "0/2 nodes are available: 2 Insufficient rdma/ib.",
		}},
	}
}

func TestJudgeAllocation(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*allocation)
		want   submission.Status
		says   string
	}{
		"given out, and counted": {func(*allocation) {}, submission.Implemented, "a pod with one rdma/ib ran on gpu-01"},
		"not given out":          {func(s *allocation) { s.One.Phase, s.One.Reason = "Failed", "UnexpectedAdmissionError" }, submission.NotImplemented, "does not run: Failed: UnexpectedAdmissionError"},
		"none is free":           {func(s *allocation) { s.One = s.TooMany }, "", "no rdma/ib is free"},
		"too many are given out": {func(s *allocation) { s.TooMany = s.One }, submission.NotImplemented, "was placed: the resource is not accounted for"},
		"bound, and not running": {func(s *allocation) { s.TooMany.Node = "gpu-01" }, submission.NotImplemented, "was placed"},
		"refused for another":    {func(s *allocation) { s.TooMany.Scheduled.Message = "Insufficient cpu" }, "", "not unschedulable because of rdma/ib"},
		"no reason":              {func(s *allocation) { s.TooMany.Scheduled = testpod.Scheduled{} }, "", "not unschedulable because of rdma/ib"},
		"the image cannot be pulled": {func(s *allocation) {
			s.One.Phase, s.One.Containers = "Pending", []testpod.ContainerStatus{{Waiting: "ImagePullBackOff"}}
		}, "", "cannot pull"},
		"nothing was seen": {func(s *allocation) { *s = allocation{} }, submission.NotImplemented, "does not run"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := healthyAllocation()
			tt.change(&s)
			var a assessment
			allocated := s.judge(&a, "0001")
			j := a.judgement()
			status, _ := submission.ShownBy(j.Verdict, j.Reason).Status()
			if status != tt.want || allocated != (tt.want == submission.Implemented) || !strings.Contains(j.Reason, tt.says) {
				t.Errorf("%q: %s", status, j.Reason)
			}
		})
	}
}
