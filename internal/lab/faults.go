package lab

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"

	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/poll"
)

// SetNoGangScheduler takes native gang scheduling out of the API server and
// the scheduler, or puts it back. It returns when both are ready again.
func (l *Lab) SetNoGangScheduler(ctx context.Context, on bool) error {
	return l.change(ctx, func(f *component.Faults) { f.NoGangScheduler = on }, component.APIServer, component.Scheduler)
}

// SetHalfGang makes the scheduler ignore gangs that the API still has, or heed
// them again. It returns when the scheduler is ready again.
func (l *Lab) SetHalfGang(ctx context.Context, on bool) error {
	return l.change(ctx, func(f *component.Faults) { f.HalfGang = on }, component.Scheduler)
}

// SetAlertRouteMissing makes Alertmanager's only receiver tell nobody, or the
// webhook again. It returns when Alertmanager is ready again.
func (l *Lab) SetAlertRouteMissing(ctx context.Context, on bool) error {
	return l.change(ctx, func(f *component.Faults) { f.AlertRouteMissing = on }, component.Alertmanager)
}

// SetOnCallSilent leads the webhook of the receiver on-call to a closed port and has
// another receiver notified every second, or makes both what they were. It returns when
// Prometheus has its rules and Alertmanager is ready again.
func (l *Lab) SetOnCallSilent(ctx context.Context, on bool) error {
	return l.change(ctx, func(f *component.Faults) { f.OnCallSilent = on }, component.Prometheus, component.Alertmanager)
}

// SetNodeLabelOff takes the label with the node from Prometheus' targets, or gives it back.
// It returns when Prometheus scrapes so; the series that it had end within three scrapes.
func (l *Lab) SetNodeLabelOff(ctx context.Context, on bool) error {
	return l.change(ctx, func(f *component.Faults) { f.NodeLabelOff = on }, component.Prometheus)
}

// SetAdapterDown ends prometheus-adapter and leaves it ended, or starts it again.
// It returns when the API server has noticed.
func (l *Lab) SetAdapterDown(ctx context.Context, on bool) error {
	return l.change(ctx, func(f *component.Faults) { f.AdapterDown = on }, component.Adapter)
}

// SetAdapterRuleWrong makes prometheus-adapter's power rules ask for a series
// that is not there, or the right one again. It returns when the adapter is
// ready again, if it is to run at all.
func (l *Lab) SetAdapterRuleWrong(ctx context.Context, on bool) error {
	return l.change(ctx, func(f *component.Faults) { f.AdapterRuleWrong = on }, component.Adapter)
}

// SetServiceRuleWrong makes prometheus-adapter's rules for inference servers ask for
// series that no server has, or the right ones again. It returns when the adapter is
// ready again, if it is to run at all.
func (l *Lab) SetServiceRuleWrong(ctx context.Context, on bool) error {
	return l.change(ctx, func(f *component.Faults) { f.ServiceRuleWrong = on }, component.Adapter)
}

// SetAPIServiceUnavailable leads the metrics APIs to a port where nobody
// listens, or to prometheus-adapter again. It returns when the API server has noticed.
func (l *Lab) SetAPIServiceUnavailable(ctx context.Context, on bool) error {
	return l.change(ctx, func(f *component.Faults) { f.APIServiceUnavailable = on })
}

// SetHonorLabelsOff makes Prometheus put the labels of the pod that it scrapes
// before those that the pod's series have, or after them again. It returns when
// Prometheus scrapes so; the series that it had end within three scrapes.
func (l *Lab) SetHonorLabelsOff(ctx context.Context, on bool) error {
	return l.change(ctx, func(f *component.Faults) { f.HonorLabelsOff = on }, component.Prometheus)
}

// changeGrace is shorter than a component's own: its clients stay, and an API
// server that drains their watches first would take a minute. None of those
// that a fault restarts has a state of its own to lose.
const changeGrace = time.Second

// change sets faults and restarts the components they concern, in this order,
// each ready before the next. Nothing restarts when nothing changes.
func (l *Lab) change(ctx context.Context, set func(*component.Faults), names ...string) error {
	l.changing.Lock()
	defer l.changing.Unlock()
	l.mu.Lock()
	before := l.conf.Faults
	set(&l.conf.Faults)
	conf, same := l.conf, before == l.conf.Faults
	l.mu.Unlock()
	if same {
		return nil
	}
	for _, c := range component.All(conf) {
		for _, name := range names {
			if c.Name != name {
				continue
			}
			if err := l.restart(ctx, c, conf.Faults); err != nil {
				return fmt.Errorf("restart %s with other settings: %w", name, err)
			}
		}
	}
	if before.NoGangScheduler != conf.Faults.NoGangScheduler {
		return l.awaitGangAPI(ctx, !conf.Faults.NoGangScheduler)
	}
	if before.AdapterDown != conf.Faults.AdapterDown || before.APIServiceUnavailable != conf.Faults.APIServiceUnavailable {
		return l.leadMetrics(ctx, conf.Faults)
	}
	return nil
}

// restart runs a component as it is to be run now, or not at all; one that can
// changes while it runs.
func (l *Lab) restart(ctx context.Context, c component.Component, f component.Faults) error {
	if c.Name == component.Adapter && f.AdapterDown {
		l.sup.Halt(c.Name, changeGrace)
		return nil
	}
	spec, err := l.spec(ctx, c)
	if err != nil {
		return err
	}
	if c.Name == component.Prometheus {
		return l.reload(ctx, c)
	}
	return l.sup.Replace(ctx, spec, changeGrace)
}

// reload makes a component read its files again, which are written. Prometheus
// must not be restarted for it: it would not end the series that it has, and
// show their last samples for minutes.
func (l *Lab) reload(ctx context.Context, c component.Component) error {
	tlsConfig, err := clientTLS(c.Probe.CA, c.Probe.Cert, c.Probe.Key)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: tlsConfig, DisableKeepAlives: true}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.conf.PrometheusURL()+"/-/reload", nil)
	if err != nil {
		return fmt.Errorf("reload %s: %w", c.Name, err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("reload %s: %w", c.Name, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10)) // what there is of an explanation
		return fmt.Errorf("reload %s: %s: %s", c.Name, resp.Status, text)
	}
	return nil
}

// awaitGangAPI waits until the API server serves pod groups, or does not.
func (l *Lab) awaitGangAPI(ctx context.Context, want bool) error {
	client, err := discovery.NewDiscoveryClientForConfig(l.rest)
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	const version = "scheduling.k8s.io/v1alpha2"
	return poll.Until(ctx, pollInterval, fmt.Sprintf("API version %s to be served: %t", version, want), func(context.Context) error {
		groups, err := client.ServerGroups()
		if err != nil {
			return err
		}
		served := slices.ContainsFunc(groups.Groups, func(g metav1.APIGroup) bool {
			return slices.ContainsFunc(g.Versions, func(v metav1.GroupVersionForDiscovery) bool { return v.GroupVersion == version })
		})
		if served != want {
			return fmt.Errorf("served: %t", served)
		}
		return nil
	})
}
