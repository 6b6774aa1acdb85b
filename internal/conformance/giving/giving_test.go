package giving

import (
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/conformance/dra/trial"
	"github.com/firstlight/firstlight/internal/conformance/standing"
	"github.com/firstlight/firstlight/internal/conformance/submission"
)

func whole() Tried {
	return Tried{
		Resource: "rdma/ib", More: 9,
		One: trial.Seen{Pod: "ns/one", Node: "gpu-01", Phase: "Running", Containers: []trial.Started{{Running: true}}},
		TooMany: trial.Seen{Pod: "ns/too-many", Phase: "Pending", Scheduled: trial.Scheduled{
			Status: "False", Reason: "Unschedulable", Message: "0/2 nodes are available: 2 Insufficient rdma/ib.",
		}},
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*Tried)
		want   submission.Status
		says   string
	}{
		"given out, and counted": {func(*Tried) {}, submission.Implemented, "a pod with one rdma/ib ran on gpu-01"},
		"not given out":          {func(s *Tried) { s.One.Phase, s.One.Reason = "Failed", "UnexpectedAdmissionError" }, submission.NotImplemented, "does not run: Failed: UnexpectedAdmissionError"},
		"none is free":           {func(s *Tried) { s.One = s.TooMany }, "", "no rdma/ib was free"},
		"too many are given out": {func(s *Tried) { s.TooMany = s.One }, submission.NotImplemented, "was placed: the resource is not accounted for"},
		"bound, and not running": {func(s *Tried) { s.TooMany.Node = "gpu-01" }, submission.NotImplemented, "was placed"},
		"refused for another":    {func(s *Tried) { s.TooMany.Scheduled.Message = "Insufficient cpu" }, "", "not refused for rdma/ib"},
		"nobody says anything":   {func(s *Tried) { s.TooMany.Scheduled = trial.Scheduled{} }, "", "not refused for rdma/ib"},
		"the image can't be pulled": {func(s *Tried) {
			s.One.Phase, s.One.Containers = "Pending", []trial.Started{{Waiting: "ImagePullBackOff"}}
		}, "", "could not be pulled"},
		"nothing was seen": {func(s *Tried) { *s = Tried{} }, submission.NotImplemented, "does not run"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := whole()
			tt.change(&s)
			var a standing.Account
			given := s.Judge(&a, "0001")
			j := a.Judgement()
			status, _ := submission.ShownBy(j.Verdict, j.Reason).Status()
			if status != tt.want || given != (tt.want == submission.Implemented) || !strings.Contains(j.Reason, tt.says) {
				t.Errorf("%q: %s", status, j.Reason)
			}
		})
	}
}
