package servicemetrics

import (
	"context"
	"errors"
	"net"
	"time"
)

// query reads the pod's series, by whichever label identifies it, and the time of Prometheus'
// clock.
func (o *observer) query(ctx context.Context, p pod) (now time.Time, found []sample, err error) {
	clock, _, err := o.prom.Query(ctx, "vector(time())", time.Time{})
	if err != nil {
		return now, nil, err
	}
	if len(clock) != 1 {
		return now, nil, errors.New("prometheus returned no time")
	}
	now = clock[0].At
	values, _, err := o.prom.Query(ctx, series, now)
	if err != nil {
		return now, nil, err
	}
	stamps, _, err := o.prom.Query(ctx, "timestamp("+series+")", now)
	if err != nil {
		return now, nil, err
	}
	at := map[string]float64{}
	for _, s := range stamps {
		at[s.Labels["instance"]+"\x00"+s.Labels["pod"]] = s.Value
	}
	for _, v := range values {
		if l := v.Labels; isOf(l, p) {
			found = append(found, sample{
				Namespace: l["namespace"], Pod: l["pod"], Instance: l["instance"], Job: l["job"], Value: v.Value,
				At: time.UnixMilli(int64(at[l["instance"]+"\x00"+l["pod"]] * 1000)).UTC(),
			})
		}
	}
	return now, found, nil
}

// isOf reports whether a series is of the pod, by any label that identifies it.
func isOf(labels map[string]string, p pod) bool {
	host, _, err := net.SplitHostPort(labels["instance"])
	if err != nil {
		host = labels["instance"]
	}
	named := (labels["namespace"] == p.Namespace && labels["pod"] == p.Name) || (labels["exported_namespace"] == p.Namespace && labels["exported_pod"] == p.Name)
	return named || (p.IP != "" && host == p.IP)
}

// follow queries until done reports true, or timeout.
func (o *observer) follow(ctx context.Context, p pod, timeout time.Duration, done func(watch) bool) (watch, error) {
	var w watch
	end := o.deps.Clock.Now().Add(timeout)
	for {
		now, found, err := o.query(ctx, p)
		if err != nil {
			return w, err
		}
		w.add(now, found)
		if done(w) || !o.deps.Clock.Now().Before(end) {
			return w, nil
		}
		if err := o.pause(ctx, max(o.interval/2, 100*time.Millisecond)); err != nil {
			return w, err
		}
	}
}

// add adds the result of one query.
func (w *watch) add(now time.Time, found []sample) {
	if w.Queries == 0 {
		w.From = now
	}
	w.Queries++
	w.To, w.Series = now, found
	switch {
	case len(found) > 0:
		w.AbsentSince = time.Time{}
		if w.First.IsZero() {
			w.First = now
		}
	case w.AbsentSince.IsZero():
		w.AbsentSince = now
	}
}

// pause returns an error when ctx ends.
func (o *observer) pause(ctx context.Context, d time.Duration) error {
	timer := o.deps.Clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// targetState describes the pod's scrape target.
func (o *observer) targetState(ctx context.Context, p pod) string {
	found, _, err := o.prom.Targets(ctx)
	if err != nil {
		return err.Error()
	}
	for _, t := range found {
		if isOf(t.Labels, p) {
			return "its target " + t.ScrapeURL + " is " + t.Health + " " + t.LastError
		}
	}
	return "Prometheus has no target of the pod"
}
