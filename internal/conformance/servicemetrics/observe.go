package servicemetrics

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/prom"
)

type observer struct {
	*Check
	cluster *kube.Cluster
	prom    prom.Prometheus
	rec     check.Observer
}

// Observe implements check.Check.
func (c *Check) Observe(ctx context.Context, rec check.Recorder) error {
	return c.deps.Observe(ctx, rec, Name, func(ctx context.Context, cluster *kube.Cluster, rec check.Observer) error {
		p, err := prom.ConnectPrometheus(c.site.Reach.Prometheus, c.site.Telemetry.Matchers, cluster)
		if err != nil {
			return rec.Begin(kindMark, "Prometheus", "connect to Prometheus").Record(nil, err)
		}
		defer p.Close()
		return (&observer{Check: c, cluster: cluster, prom: p, rec: rec}).observe(ctx)
	})
}

func (o *observer) open(context.Context) (*kube.Cluster, error) { return o.cluster, nil }

// observe stops at the first step that fails, since the later ones would prove nothing.
func (o *observer) observe(ctx context.Context) error {
	attempt := o.rec.Begin(kindMark, o.prom.Name(), "GET /api/v1/status/config; LIST prometheuses.monitoring.coreos.com")
	m, err := o.findMark(ctx)
	if recordErr := attempt.Record(m, err); recordErr != nil || err != nil {
		return errors.Join(recordErr, ctx.Err())
	}
	o.rec.Progress("starting the server")
	attempt = o.rec.Begin(kindServer, "job "+jobName, "create a Job of the site's inference server; GET /health and /metrics of its pod")
	limited, cancel := context.WithTimeout(ctx, o.site.Workloads.Inference.Timeout.D())
	defer cancel()
	gang, p, err := o.start(limited)
	if gang != nil {
		defer func() {
			cleanup, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
			defer cancel()
			if err := gang.Delete(cleanup); err != nil {
				o.rec.Progress("cannot remove the server: %v", err)
			}
		}()
	}
	s := server{Pod: p}
	base, stop := "", func() {}
	if err == nil {
		base, stop, err = o.ready(limited, p)
	}
	if err == nil {
		defer stop()
		s.Value, s.Exposed, err = o.exposed(limited, base)
	}
	if recordErr := attempt.Record(s, err); recordErr != nil || err != nil || !s.Exposed {
		return errors.Join(recordErr, ctx.Err())
	}
	return o.discover(ctx, m, p, base)
}

// discover watches the series without the mark, with it, and without it again.
func (o *observer) discover(ctx context.Context, m mark, p pod, base string) error {
	defer o.cleanUp(ctx, m, p)
	if err := o.prepare(ctx, m, p); err != nil {
		return o.rec.Begin(kindWatch, unmarked, "prepare pod "+p.Name).Record(nil, err)
	}
	o.rec.Progress("without the mark: Prometheus must have no series for %s", o.window)
	w, ok, err := o.watched(ctx, unmarked, p, o.window, func(w watch) bool { return len(w.Series) > 0 })
	if err != nil || !ok || len(w.Series) > 0 {
		return err
	}
	if err := o.set(ctx, m, p, true); err != nil {
		return o.rec.Begin(kindWatch, marked, "mark pod "+p.Name).Record(nil, err)
	}
	o.rec.Progress("with the mark: waiting for the series")
	w, ok, err = o.watched(ctx, marked, p, o.timeout, func(w watch) bool { return len(w.Series) > 0 })
	if err != nil || !ok || len(w.Series) == 0 {
		return err
	}
	if ok, err := o.served(ctx, p, base); err != nil || !ok {
		return err
	}
	absence := max(absenceFactor*w.To.Sub(w.From), minQueries*o.interval)
	if err := o.set(ctx, m, p, false); err != nil {
		return o.rec.Begin(kindWatch, again, "remove the mark of pod "+p.Name).Record(nil, err)
	}
	o.rec.Progress("without the mark: the series must stay absent for %s", absence)
	if _, ok, err = o.watched(ctx, again, p, o.timeout+absence, func(w watch) bool { return !w.AbsentSince.IsZero() && w.To.Sub(w.AbsentSince) >= absence }); err != nil || !ok {
		return err
	}
	attempt := o.rec.Begin(kindEnd, p.Name, "GET pod "+p.Namespace+"/"+p.Name)
	last, err := o.readPod(ctx, p)
	return attempt.Record(last, err)
}

// watched follows the pod's series and records them; ok is false where Prometheus could not
// be queried.
func (o *observer) watched(ctx context.Context, target string, p pod, timeout time.Duration, done func(watch) bool) (w watch, ok bool, err error) {
	attempt := o.rec.Begin(kindWatch, target, "query "+series+"; query timestamp("+series+")")
	w, failed := o.follow(ctx, p, timeout, done)
	if ctx.Err() != nil {
		return w, false, ctx.Err()
	}
	if failed == nil && target == marked && len(w.Series) == 0 {
		w.Problem = o.targetState(ctx, p)
	}
	return w, failed == nil, attempt.Record(w, failed)
}

// served reads the value at the custom metrics API without, under and after requests.
func (o *observer) served(ctx context.Context, p pod, base string) (ok bool, err error) {
	a := &api{cluster: o.cluster}
	if ok, err := o.atAPI(ctx, idle, a, p, func(served) bool { return true }); err != nil || !ok {
		return false, err
	}
	o.rec.Progress("sending %d concurrent requests: waiting for the value to follow", concurrency)
	attempt := o.rec.Begin(kindRequests, "/v1/completions", fmt.Sprintf("POST /v1/completions, %d concurrent; query %s; GET it for the pod at %s", concurrency, series, customAPI))
	loading, stop := context.WithCancel(ctx)
	defer stop()
	load := o.startLoad(loading, base)
	top, reads := 0.0, 0
	reached, failed := o.waitValue(ctx, a, p, func(s served) bool {
		if _, found, err := o.query(ctx, p); err == nil {
			top = max(top, highest(found))
			reads++
		}
		return s.Value > 0 && top > 0
	})
	stop()
	f := load.wait()
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	f.Prometheus, f.API, f.Reads = top, reached.Value, reads
	if answered(failed) {
		f.Absent, failed = failed.Error(), nil
	}
	if err := attempt.Record(f, failed); err != nil || failed != nil || f.Absent != "" {
		return false, err
	}
	return o.atAPI(ctx, after, a, p, func(s served) bool { return s.Value == 0 })
}

// atAPI waits for a value at the custom metrics API and records it.
func (o *observer) atAPI(ctx context.Context, target string, a *api, p pod, done func(served) bool) (ok bool, err error) {
	attempt := o.rec.Begin(kindServed, target, "GET "+customAPI+"/.../namespaces/"+p.Namespace+"/pods/"+p.Name+"/"+metricName)
	s, failed := o.waitValue(ctx, a, p, done)
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if answered(failed) {
		return false, attempt.Record(served{Absent: failed.Error()}, nil)
	}
	return failed == nil, attempt.Record(s, failed)
}
