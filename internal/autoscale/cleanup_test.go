package autoscale

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/autoscale/judge"
	"github.com/firstlight/firstlight/internal/autoscale/metric"
	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/autoscale/track"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube/kubetest"
	"github.com/firstlight/firstlight/internal/site"
)

// records keeps the observations of a chain.
type records struct{ o []check.Observation }

func (r *records) Record(o check.Observation) (check.Observation, error) {
	r.o = append(r.o, o)
	return o, nil
}

func (*records) Progress(string, ...any) {}

// driving is a chain on a cluster without objects. The first request for the priority classes,
// that of the clean-up, gets a status.
func driving(t *testing.T, status int) (*drive, *records) {
	t.Helper()
	var first sync.Once
	cluster := kubetest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/priorityclasses") {
			first.Do(func() { w.WriteHeader(status) })
		}
		_, _ = w.Write([]byte(`{"kind":"List","apiVersion":"v1","metadata":{},"items":[]}`))
	})
	rec := &records{}
	d := &drive{
		chain: &Chain{}, rec: rec, cluster: cluster, clock: clock.RealClock{}, marks: map[string]time.Time{},
		tracker: track.New(track.Options{Cluster: cluster}), sampler: metric.New(metric.Config{Cluster: cluster}),
	}
	d.setup.Run, d.setup.Deadlines = "r", map[string]metav1.Duration{snapshot.HopClean: {Duration: time.Minute}}
	return d, rec
}

func cleaned(t *testing.T, status int) check.Verdict {
	t.Helper()
	d, rec := driving(t, status)
	if err := d.clean(t.Context()); err != nil {
		t.Fatal(err)
	}
	hops := fold(append([]check.Observation{setupOf(t, d.setup)}, rec.o...)).hops
	return hops[len(hops)-1].Verdict
}

func setupOf(t *testing.T, s snapshot.Setup) check.Observation {
	t.Helper()
	o, err := check.Observation{Kind: snapshot.KindSetup}.WithFigures(s)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestAFailedCleanUpDoesNotPass(t *testing.T) {
	t.Parallel()
	if v := cleaned(t, http.StatusInternalServerError); v != check.Unobserved {
		t.Errorf("with an error of the clean-up: %s", v)
	}
	if v := cleaned(t, http.StatusOK); v != check.Passed {
		t.Errorf("with nothing left: %s", v)
	}
}

func TestTheControlWindowIsObservedFromItsBegin(t *testing.T) {
	t.Parallel()
	d, rec := driving(t, http.StatusOK)
	d.setup.Window.Duration = time.Millisecond
	if _, err := d.window(t.Context()); err != nil {
		t.Fatal(err)
	}
	if began := d.marks[snapshot.MarkWindow]; len(rec.o) != 1 || !rec.o[0].At.Equal(began) || rec.o[0].Took.Duration < d.setup.Window.Duration {
		t.Errorf("began at %s, observed: %+v", began, rec.o)
	}
}

func TestNodePoolsAreCreatedOnlyUnderTheLeaseOfTheRun(t *testing.T) {
	t.Parallel()
	d, rec := driving(t, http.StatusOK)
	d.cluster.Namespace, d.cluster.RenewLease = "acceptance", func(context.Context) error { return errors.New("another process has the run") }
	d.setup.Pool.Autoscaler = "karpenter"
	passed, err := d.createPools(t.Context())
	if passed || err != nil || len(rec.o) != 1 || rec.o[0].Target != snapshot.HopPool {
		t.Errorf("passed %t, %v, recorded %+v", passed, err, rec.o)
	}
}

// A gang is left out only where the site says autoscale.gang: 1.
func TestAGangWithoutASchedulerIsNotLeftOut(t *testing.T) {
	t.Parallel()
	d, rec := driving(t, http.StatusOK)
	d.chain.site = &site.Site{Autoscale: site.Autoscale{Gang: 3}}
	d.setup.Pool.Own, d.values.Gang = true, 3
	d.planGang(t.Context())
	if why, left := judge.NotApplicable(snapshot.HopGangBound, d.setup); left || d.setup.Gang != 3 {
		t.Errorf("a gang of %d is left out: %s", d.setup.Gang, why)
	}
	passed, err := d.gang(t.Context())
	if passed || err != nil || len(rec.o) != 1 || rec.o[0].Target != snapshot.HopGangBound || !strings.Contains(string(rec.o[0].Figures), "gang scheduler native") {
		t.Errorf("passed %t, %v, recorded %+v", passed, err, rec.o)
	}
	d.chain.site.Autoscale.Gang = 1
	d.planGang(t.Context())
	if _, left := judge.NotApplicable(snapshot.HopGangBound, d.setup); !left {
		t.Error("a gang that the site does not ask for is not left out")
	}
}

func TestTheLeaseIsReleasedBeforeItsNamespaceIsDeleted(t *testing.T) {
	t.Parallel()
	for _, err := range []error{nil, errors.New("another process has the run")} {
		d, rec := driving(t, http.StatusOK)
		released := 0
		d.cluster.ReleaseLease = func(context.Context) error { released++; return err }
		if err := d.clean(t.Context()); err != nil {
			t.Fatal(err)
		}
		hops := fold(append([]check.Observation{setupOf(t, d.setup)}, rec.o...)).hops
		if v := hops[len(hops)-1].Verdict; released != 1 || (v == check.Passed) != (err == nil) {
			t.Errorf("released %d times with %v: %s", released, err, v)
		}
	}
}

func TestARefusedActionIsReportedByTheNextHopThatApplies(t *testing.T) {
	t.Parallel()
	d, rec := driving(t, http.StatusOK)
	d.setup.Pool.Stay = true
	if passed, err := d.refused(t.Context(), snapshot.HopPool, errors.New("hold the run: lost")); passed || err != nil {
		t.Fatal(passed, err)
	}
	if len(rec.o) != 1 || rec.o[0].Target != snapshot.HopSeries {
		t.Fatalf("recorded %+v", rec.o)
	}
	st, err := check.Decode[snapshot.State](rec.o[0])
	if err != nil {
		t.Fatal(err)
	}
	if r := judge.Hop(snapshot.HopSeries, d.setup, st); r.Verdict != check.Unobserved || !strings.Contains(r.Reason, "hold the run: lost") {
		t.Errorf("%s: %s", r.Verdict, r.Reason)
	}
}
