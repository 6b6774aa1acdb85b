package servicemetrics

import (
	"context"
	"errors"
	"net"
	"time"
)

// look asks Prometheus once what it has of the pod, by whatever label, and what time
// it is there.
func (o *observer) ask(ctx context.Context, p pod) (now time.Time, found []sample, err error) {
	clock, _, err := o.prom.Query(ctx, "vector(time())", time.Time{})
	if err != nil {
		return now, nil, err //nolint:wrapcheck // names the query
	}
	if len(clock) != 1 {
		return now, nil, errors.New("prometheus does not tell its time")
	}
	now = clock[0].At
	values, _, err := o.prom.Query(ctx, series, now)
	if err != nil {
		return now, nil, err //nolint:wrapcheck // names the query
	}
	stamps, _, err := o.prom.Query(ctx, "timestamp("+series+")", now)
	if err != nil {
		return now, nil, err //nolint:wrapcheck // names the query
	}
	at := map[string]float64{}
	for _, s := range stamps {
		at[s.Labels["instance"]+"\x00"+s.Labels["pod"]] = s.Value
	}
	for _, v := range values {
		if l := v.Labels; of(l, p) {
			found = append(found, sample{
				Namespace: l["namespace"], Pod: l["pod"], Instance: l["instance"], Job: l["job"], Value: v.Value,
				At: time.UnixMilli(int64(at[l["instance"]+"\x00"+l["pod"]] * 1000)).UTC(),
			})
		}
	}
	return now, found, nil
}

// of says that a series is of the pod, by any of the labels that would tell.
func of(labels map[string]string, p pod) bool {
	host, _, err := net.SplitHostPort(labels["instance"])
	if err != nil {
		host = labels["instance"]
	}
	named := (labels["namespace"] == p.Namespace && labels["pod"] == p.Name) || (labels["exported_namespace"] == p.Namespace && labels["exported_pod"] == p.Name)
	return named || (p.IP != "" && host == p.IP)
}

// follow looks until enough says so, at most for the time given.
func (o *observer) follow(ctx context.Context, p pod, within time.Duration, enough func(watch) bool) (watch, error) {
	var w watch
	end := o.deps.Clock.Now().Add(within)
	for {
		now, found, err := o.ask(ctx, p)
		if err != nil {
			return w, err
		}
		w.note(now, found)
		if enough(w) || !o.deps.Clock.Now().Before(end) {
			return w, nil
		}
		if err := o.pause(ctx, max(o.every/2, 100*time.Millisecond)); err != nil {
			return w, err
		}
	}
}

// note adds one look.
func (w *watch) note(now time.Time, found []sample) {
	if w.Looks == 0 {
		w.From = now
	}
	w.Looks++
	w.To, w.Series = now, found
	switch {
	case len(found) > 0:
		w.Gone = time.Time{}
		if w.First.IsZero() {
			w.First = now
		}
	case w.Gone.IsZero():
		w.Gone = now
	}
}

// pause waits; the error is for a context that ended.
func (o *observer) pause(ctx context.Context, d time.Duration) error {
	timer := o.deps.Clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C():
		return nil
	case <-ctx.Done():
		return ctx.Err() //nolint:wrapcheck // interrupted
	}
}

// trouble is what Prometheus says about the pod's target.
func (o *observer) trouble(ctx context.Context, p pod) string {
	found, _, err := o.prom.Targets(ctx)
	if err != nil {
		return err.Error()
	}
	for _, t := range found {
		if of(t.Labels, p) {
			return "its target " + t.ScrapeURL + " is " + t.Health + " " + t.LastError
		}
	}
	return "it has no target of the pod"
}
