package servicemetrics

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/calls"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/prom"
)

// observer is one observation of the check.
type observer struct {
	*Check
	cluster *kube.Cluster
	prom    prom.Prometheus
	rec     check.Recorder
}

// Observe implements check.Check.
func (c *Check) Observe(ctx context.Context, rec check.Recorder) error {
	if c.deps.Cluster == nil {
		return errors.New("observe service metrics: no cluster is given")
	}
	rec.Progress("waiting for the cluster")
	given, err := c.deps.Cluster(ctx)
	if err != nil {
		return fmt.Errorf("reach the cluster: %w", err)
	}
	log := calls.NewLog(c.deps.Clock)
	cluster, err := kube.New(log.Record(given.Config))
	if err != nil {
		return fmt.Errorf("reach the cluster: %w", err)
	}
	client, err := prom.Connect(prom.Endpoint(c.site.Reach.Prometheus), cluster)
	if err != nil {
		return c.keep(rec, c.look(kindMark, "Prometheus", "connect to Prometheus"), nil, err)
	}
	defer client.Close()
	o := &observer{Check: c, cluster: cluster, prom: prom.Prometheus{Client: client}, rec: rec}
	return errors.Join(o.observe(ctx), log.Keep(rec, "cluster"))
}

func (o *observer) open(context.Context) (*kube.Cluster, error) { return o.cluster, nil }

// observe walks through the check. What is not as it has to be ends it: the rest
// would prove nothing.
func (o *observer) observe(ctx context.Context) error {
	l := o.look(kindMark, o.prom.Name(), "GET /api/v1/status/config; LIST prometheuses.monitoring.coreos.com")
	m, err := o.findMark(ctx)
	if keepErr := o.keep(o.rec, l, m, err); keepErr != nil || err != nil {
		return errors.Join(keepErr, ctx.Err())
	}
	o.rec.Progress("starting the server")
	l = o.look(kindServer, "job "+jobName, "create a Job of the site's inference server; GET /health and /metrics of its pod")
	limited, cancel := context.WithTimeout(ctx, o.site.Workloads.Inference.Timeout.D())
	defer cancel()
	gang, p, err := o.start(limited)
	if gang != nil {
		defer func() {
			remove, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeWithin)
			defer cancel()
			if err := gang.Delete(remove); err != nil {
				o.rec.Progress("the server could not be removed: %v", err)
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
	if keepErr := o.keep(o.rec, l, s, err); keepErr != nil || err != nil || !s.Exposed {
		return errors.Join(keepErr, ctx.Err())
	}
	return o.discover(ctx, m, p, base)
}

// discover sees the series come and go with the mark.
func (o *observer) discover(ctx context.Context, m mark, p pod, base string) error {
	defer o.tidy(ctx, m, p)
	if err := o.prepare(ctx, m, p); err != nil {
		return o.keep(o.rec, o.look(kindWatch, unmarked, "prepare pod "+p.Name), nil, err)
	}
	o.rec.Progress("nothing of it may be read for %s", o.window)
	w, ok, err := o.watched(ctx, unmarked, p, o.window, func(w watch) bool { return len(w.Series) > 0 })
	if err != nil || !ok || len(w.Series) > 0 {
		return err
	}
	if err := o.set(ctx, m, p, true); err != nil {
		return o.keep(o.rec, o.look(kindWatch, marked, "mark pod "+p.Name), nil, err)
	}
	o.rec.Progress("marked: waiting for its series")
	w, ok, err = o.watched(ctx, marked, p, o.within, func(w watch) bool { return len(w.Series) > 0 })
	if err != nil || !ok || len(w.Series) == 0 {
		return err
	}
	if ok, err := o.served(ctx, p, base); err != nil || !ok {
		return err
	}
	away := max(awayFactor*w.To.Sub(w.From), leastLooks*o.every)
	if err := o.set(ctx, m, p, false); err != nil {
		return o.keep(o.rec, o.look(kindWatch, again, "take the mark from pod "+p.Name), nil, err)
	}
	o.rec.Progress("without the mark: it has to stay away for %s", away)
	if _, ok, err = o.watched(ctx, again, p, o.within+away, func(w watch) bool { return !w.Gone.IsZero() && w.To.Sub(w.Gone) >= away }); err != nil || !ok {
		return err
	}
	l := o.look(kindEnd, p.Name, "GET pod "+p.Namespace+"/"+p.Name)
	last, err := o.now(ctx, p)
	return o.keep(o.rec, l, last, err)
}

// watched follows the pod's series and records what it saw; ok is false where it
// could not be seen.
func (o *observer) watched(ctx context.Context, target string, p pod, within time.Duration, enough func(watch) bool) (w watch, ok bool, err error) {
	l := o.look(kindWatch, target, "query "+series+"; query timestamp("+series+")")
	w, seenErr := o.follow(ctx, p, within, enough)
	if ctx.Err() != nil {
		return w, false, ctx.Err() //nolint:wrapcheck // interrupted
	}
	if seenErr == nil && target == marked && len(w.Series) == 0 {
		w.Trouble = o.trouble(ctx, p)
	}
	return w, seenErr == nil, o.keep(o.rec, l, w, seenErr)
}

// served sees the value at the custom metrics API, and that it follows requests.
func (o *observer) served(ctx context.Context, p pod, base string) (ok bool, err error) {
	a := &api{cluster: o.cluster}
	if ok, err := o.atAPI(ctx, idle, a, p, func(served) bool { return true }); err != nil || !ok {
		return false, err
	}
	o.rec.Progress("%d requests side by side: waiting for the value to follow", requests)
	l := o.look(kindRequests, "/v1/completions", fmt.Sprintf("POST /v1/completions, %d side by side; query %s; GET it of the pod at %s", requests, series, customAPI))
	working, rest := context.WithCancel(ctx)
	defer rest()
	load := o.work(working, base)
	top := 0.0
	reached, seenErr := o.await(ctx, a, p, func(s served) bool {
		if _, found, err := o.ask(ctx, p); err == nil {
			top = max(top, highest(found))
		}
		return s.Value > 0 && top > 0
	})
	rest()
	f := load.end()
	if ctx.Err() != nil {
		return false, ctx.Err() //nolint:wrapcheck // interrupted
	}
	f.Prometheus, f.API = top, reached.Value
	if answered(seenErr) {
		f.Absent, seenErr = seenErr.Error(), nil
	}
	if err := o.keep(o.rec, l, f, seenErr); err != nil || seenErr != nil || f.Absent != "" {
		return false, err
	}
	return o.atAPI(ctx, after, a, p, func(s served) bool { return s.Value == 0 })
}

// atAPI waits for a value at the custom metrics API and records it.
func (o *observer) atAPI(ctx context.Context, target string, a *api, p pod, enough func(served) bool) (ok bool, err error) {
	l := o.look(kindServed, target, "GET "+customAPI+"/.../namespaces/"+p.Namespace+"/pods/"+p.Name+"/"+metricName)
	s, seenErr := o.await(ctx, a, p, enough)
	if ctx.Err() != nil {
		return false, ctx.Err() //nolint:wrapcheck // interrupted
	}
	if answered(seenErr) {
		return false, o.keep(o.rec, l, served{Absent: seenErr.Error()}, nil)
	}
	return seenErr == nil, o.keep(o.rec, l, s, seenErr)
}
