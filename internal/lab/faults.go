package lab

import (
	"context"
	"errors"
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
	return l.change(ctx, "no gang scheduler", func(f *component.Faults) { f.NoGangScheduler = on },
		l.restarting(component.APIServer, component.Scheduler), l.awaitGangAPI)
}

// SetHalfGang makes the schedulers place parts of gangs, or restores them: the default scheduler
// ignores the groups that the API server serves. It returns when the schedulers are ready.
func (l *Lab) SetHalfGang(ctx context.Context, on bool) error {
	return l.change(ctx, "half gang", func(f *component.Faults) { f.HalfGang = on }, l.restarting(component.Scheduler), l.halfGangOthers)
}

// SetAlertRouteMissing gives Alertmanager a receiver without a notifier, or restores the webhook.
// It returns when Alertmanager is ready.
func (l *Lab) SetAlertRouteMissing(ctx context.Context, on bool) error {
	return l.change(ctx, "alert route missing", func(f *component.Faults) { f.AlertRouteMissing = on }, l.restarting(component.Alertmanager))
}

// SetAlertLabelDropped removes the label severity from the alerts that Prometheus sends, or restores
// it. It returns when Prometheus is ready.
func (l *Lab) SetAlertLabelDropped(ctx context.Context, on bool) error {
	return l.change(ctx, "alert label dropped", func(f *component.Faults) { f.AlertLabelDropped = on }, l.restarting(component.Prometheus))
}

// SetOnCallSilent points the webhook of the receiver on-call at a closed port and notifies another
// receiver every second, or restores both. It returns when Prometheus has its rules and
// Alertmanager is ready.
func (l *Lab) SetOnCallSilent(ctx context.Context, on bool) error {
	return l.change(ctx, "on-call silent", func(f *component.Faults) { f.OnCallSilent = on }, l.restarting(component.Prometheus, component.Alertmanager))
}

// SetNodeLabelOff removes the node label from Prometheus' targets, or restores it. It returns when
// Prometheus scrapes without it; existing series end within three scrapes.
func (l *Lab) SetNodeLabelOff(ctx context.Context, on bool) error {
	return l.change(ctx, "node label off", func(f *component.Faults) { f.NodeLabelOff = on }, l.restarting(component.Prometheus))
}

// SetPrometheusShared gives Prometheus the series of another cluster too, or removes them. It
// returns when Prometheus scrapes with the change; existing series end within three scrapes.
func (l *Lab) SetPrometheusShared(ctx context.Context, on bool) error {
	return l.change(ctx, "Prometheus shared", func(f *component.Faults) { f.PrometheusShared = on }, l.restarting(component.Prometheus))
}

// SetExportersUnscraped removes the exporters from Prometheus' targets, or restores them. It returns
// when Prometheus scrapes without them; existing series end within three scrapes.
func (l *Lab) SetExportersUnscraped(ctx context.Context, on bool) error {
	return l.change(ctx, "exporters not scraped", func(f *component.Faults) { f.ExportersUnscraped = on }, l.restarting(component.Prometheus))
}

// SetGPUOperatorDown stops the GPU Operator of a lab with component.StackReal, or starts it. It
// returns when the process has ended, or is ready.
func (l *Lab) SetGPUOperatorDown(ctx context.Context, on bool) error {
	return l.change(ctx, "GPU Operator down", func(f *component.Faults) { f.GPUOperatorDown = on }, l.restarting(component.GPUOperator))
}

// SetAdapterDown stops prometheus-adapter, or starts it. It returns when the APIServices have the
// matching condition.
func (l *Lab) SetAdapterDown(ctx context.Context, on bool) error {
	return l.change(ctx, "adapter down", func(f *component.Faults) { f.AdapterDown = on }, l.restarting(component.Adapter), l.updateMetrics)
}

// SetAdapterRuleWrong makes prometheus-adapter's power rules query a series that does not exist,
// or restores them. It returns when the adapter is ready, unless it is stopped.
func (l *Lab) SetAdapterRuleWrong(ctx context.Context, on bool) error {
	return l.change(ctx, "adapter rule wrong", func(f *component.Faults) { f.AdapterRuleWrong = on }, l.restarting(component.Adapter))
}

// SetServiceRuleWrong makes prometheus-adapter's inference rules query series that no server
// exports, or restores them. It returns when the adapter is ready, unless it is stopped.
func (l *Lab) SetServiceRuleWrong(ctx context.Context, on bool) error {
	return l.change(ctx, "service rule wrong", func(f *component.Faults) { f.ServiceRuleWrong = on }, l.restarting(component.Adapter))
}

// SetAPIServiceUnavailable points the metrics APIServices at a closed port, or at
// prometheus-adapter. It returns when the APIServices have the matching condition.
func (l *Lab) SetAPIServiceUnavailable(ctx context.Context, on bool) error {
	return l.change(ctx, "APIService unavailable", func(f *component.Faults) { f.APIServiceUnavailable = on }, l.updateMetrics)
}

// SetHonorLabelsOff makes target labels override the labels of scraped series, or restores
// honor_labels. It returns when Prometheus scrapes that way; existing series end within three
// scrapes.
func (l *Lab) SetHonorLabelsOff(ctx context.Context, on bool) error {
	return l.change(ctx, "honor_labels off", func(f *component.Faults) { f.HonorLabelsOff = on }, l.restarting(component.Prometheus))
}

// changeGrace is shorter than a component's own grace period: the clients stay connected, and an
// API server would drain their watches for a minute. No component that a fault restarts has state
// to lose.
const changeGrace = time.Second

// errAbsent is the error of an effect that applied nothing, because the lab has no such component.
var errAbsent = errors.New("the lab does not have")

// effect applies faults to the control plane and returns when they are in effect.
type effect func(ctx context.Context, f component.Faults) error

// change sets a fault and applies it. Changes are serialized. The fault is recorded when all
// effects have succeeded; after an error the record is unchanged, and the next change of this name
// applies its effects again even if it sets what is recorded. Without a change, nothing is applied.
func (l *Lab) change(ctx context.Context, name string, set func(*component.Faults), effects ...effect) error {
	if err := l.takeTurn(ctx, l.changing); err != nil {
		return fmt.Errorf("change %s: %w", name, err)
	}
	defer func() { <-l.changing }()
	faults := l.faults()
	before := faults
	set(&faults)
	unsettled := l.unsettled[name]
	if faults == before && !unsettled {
		return nil
	}
	l.unsettled[name] = true
	ctx, cancel := l.bounded(ctx, "change of "+name)
	defer cancel()
	for i, apply := range effects {
		if err := apply(ctx, faults); err != nil {
			if i == 0 && errors.Is(err, errAbsent) {
				l.unsettled[name] = unsettled // nothing was applied
			}
			return fmt.Errorf("change %s: %w", name, err)
		}
	}
	delete(l.unsettled, name)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conf.Faults = faults
	return nil
}

func (l *Lab) faults() component.Faults {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.conf.Faults
}

// restarting restarts components in the given order, each ready before the next.
func (l *Lab) restarting(names ...string) effect {
	return func(ctx context.Context, f component.Faults) error {
		l.mu.Lock()
		conf := l.conf
		l.mu.Unlock()
		conf.Faults = f
		all := component.All(conf)
		var chosen []component.Component
		for _, name := range names {
			i := slices.IndexFunc(all, func(c component.Component) bool { return c.Name == name })
			if i < 0 {
				return fmt.Errorf("restart %s: %w it", name, errAbsent)
			}
			chosen = append(chosen, all[i])
		}
		for _, c := range chosen {
			if err := l.restart(ctx, c, f); err != nil {
				return fmt.Errorf("restart %s: %w", c.Name, err)
			}
		}
		return nil
	}
}

// restart applies a component's configuration: it stops, reloads or replaces the process.
func (l *Lab) restart(ctx context.Context, c component.Component, f component.Faults) error {
	if f.Stops(c.Name) {
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
func (l *Lab) awaitGangAPI(ctx context.Context, f component.Faults) error {
	want := !f.NoGangScheduler
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
