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

// SetNoGangScheduler removes native gang scheduling from the API server and the scheduler, or
// restores it. It returns when both are ready.
func (l *Lab) SetNoGangScheduler(ctx context.Context, on bool) error {
	return l.change(ctx, func(f *component.Faults) { f.NoGangScheduler = on }, component.APIServer, component.Scheduler)
}

// SetHalfGang makes the scheduler ignore gangs while the API server serves them, or restores it.
// It returns when the scheduler is ready.
func (l *Lab) SetHalfGang(ctx context.Context, on bool) error {
	return l.change(ctx, func(f *component.Faults) { f.HalfGang = on }, component.Scheduler)
}

// SetAlertRouteMissing gives Alertmanager a receiver without a notifier, or restores the webhook.
// It returns when Alertmanager is ready.
func (l *Lab) SetAlertRouteMissing(ctx context.Context, on bool) error {
	return l.change(ctx, func(f *component.Faults) { f.AlertRouteMissing = on }, component.Alertmanager)
}

// SetOnCallSilent points the webhook of the receiver on-call at a closed port and notifies another
// receiver every second, or restores both. It returns when Prometheus has its rules and
// Alertmanager is ready.
func (l *Lab) SetOnCallSilent(ctx context.Context, on bool) error {
	return l.change(ctx, func(f *component.Faults) { f.OnCallSilent = on }, component.Prometheus, component.Alertmanager)
}

// SetNodeLabelOff removes the node label from Prometheus' targets, or restores it. It returns when
// Prometheus scrapes without it; existing series end within three scrapes.
func (l *Lab) SetNodeLabelOff(ctx context.Context, on bool) error {
	return l.change(ctx, func(f *component.Faults) { f.NodeLabelOff = on }, component.Prometheus)
}

// SetAdapterDown stops prometheus-adapter, or starts it. It returns when the APIServices have the
// matching condition.
func (l *Lab) SetAdapterDown(ctx context.Context, on bool) error {
	return l.change(ctx, func(f *component.Faults) { f.AdapterDown = on }, component.Adapter)
}

// SetAdapterRuleWrong makes prometheus-adapter's power rules query a series that does not exist,
// or restores them. It returns when the adapter is ready, unless it is stopped.
func (l *Lab) SetAdapterRuleWrong(ctx context.Context, on bool) error {
	return l.change(ctx, func(f *component.Faults) { f.AdapterRuleWrong = on }, component.Adapter)
}

// SetServiceRuleWrong makes prometheus-adapter's inference rules query series that no server
// exports, or restores them. It returns when the adapter is ready, unless it is stopped.
func (l *Lab) SetServiceRuleWrong(ctx context.Context, on bool) error {
	return l.change(ctx, func(f *component.Faults) { f.ServiceRuleWrong = on }, component.Adapter)
}

// SetAPIServiceUnavailable points the metrics APIServices at a closed port, or at
// prometheus-adapter. It returns when the APIServices have the matching condition.
func (l *Lab) SetAPIServiceUnavailable(ctx context.Context, on bool) error {
	return l.change(ctx, func(f *component.Faults) { f.APIServiceUnavailable = on })
}

// SetHonorLabelsOff makes target labels override the labels of scraped series, or restores
// honor_labels. It returns when Prometheus scrapes that way; existing series end within three
// scrapes.
func (l *Lab) SetHonorLabelsOff(ctx context.Context, on bool) error {
	return l.change(ctx, func(f *component.Faults) { f.HonorLabelsOff = on }, component.Prometheus)
}

// changeGrace is shorter than a component's own grace period: the clients stay connected, and an
// API server would drain their watches for a minute. No component that a fault restarts has state
// to lose.
const changeGrace = time.Second

// change sets faults and restarts the components that they affect in the given order, each ready
// before the next. It restarts nothing when no fault changes.
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
				return fmt.Errorf("restart %s: %w", name, err)
			}
		}
	}
	if before.NoGangScheduler != conf.Faults.NoGangScheduler {
		return l.awaitGangAPI(ctx, !conf.Faults.NoGangScheduler)
	}
	if before.AdapterDown != conf.Faults.AdapterDown || before.APIServiceUnavailable != conf.Faults.APIServiceUnavailable {
		return l.updateMetrics(ctx, conf.Faults)
	}
	return nil
}

// restart applies a component's configuration: it stops, reloads or replaces the process.
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

// reload makes a component reread its files. A restarted Prometheus would not mark its series as
// stale and would return their last samples for minutes.
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
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 4<<10)) // best effort
		return fmt.Errorf("reload %s: %s: %s", c.Name, resp.Status, text)
	}
	return nil
}

// awaitGangAPI waits until the API server serves pod groups, or no longer serves them.
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
