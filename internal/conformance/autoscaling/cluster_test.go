package autoscaling

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/firstlight/firstlight/internal/autoscale/snapshottest"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

type recorder struct{ recorded []check.Observation }

func (r *recorder) Record(o check.Observation) (check.Observation, error) {
	r.recorded = append(r.recorded, o)
	return o, nil
}
func (*recorder) Progress(string, ...any) {}

// The chain is tested in package autoscale. This test has no observations, which never pass.
func TestWithoutObservations(t *testing.T) {
	t.Parallel()
	p, err := profile.Load("h100-sxm-ndr400")
	if err != nil {
		t.Fatal(err)
	}
	c := NewCluster(&site.Site{}, p, conformance.Deps{Cluster: func(context.Context) (*kube.Cluster, error) { return nil, errors.New("no route to host") }})
	var rec recorder
	if err := c.Observe(t.Context(), &rec); err == nil || !strings.Contains(err.Error(), "no route to host") {
		t.Errorf("%v", err)
	}
	if j := c.Judge(rec.recorded); j.Verdict == check.Passed {
		t.Errorf("%+v", j)
	}
	if err := NewCluster(&site.Site{}, p, conformance.Deps{}).Observe(t.Context(), &rec); err == nil {
		t.Error("no error without a cluster")
	}
}

func TestReplicasThatStayProveNoAutoscalingOfTheCluster(t *testing.T) {
	t.Parallel()
	j := NewCluster(nil, nil, conformance.Deps{}).Judge(observations(t, snapshottest.StaySetup(), nil))
	if j.Verdict != check.Unobserved || !strings.Contains(j.Reason, "of another check") {
		t.Errorf("%s: %s", j.Verdict, j.Reason)
	}
}
