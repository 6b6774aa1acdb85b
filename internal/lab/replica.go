package lab

import (
	"context"
	"errors"
	"fmt"

	"github.com/firstlight/firstlight/internal/lab/component"
)

// SetPrometheusReplicaStale starts a second Prometheus that scrapes nothing and an address that
// alternates between both, or stops both. It returns when the second Prometheus is ready.
func (l *Lab) SetPrometheusReplicaStale(ctx context.Context, on bool) error {
	return l.change(ctx, "Prometheus replica stale", func(f *component.Faults) { f.PrometheusReplicaStale = on }, l.addReplica)
}

func (l *Lab) addReplica(ctx context.Context, f component.Faults) error {
	l.share(nil)
	l.sup.Remove(component.PrometheusReplica)
	if !f.PrometheusReplicaStale {
		return nil
	}
	if err := l.net.claimReplica(ctx); err != nil {
		return err
	}
	l.mu.Lock()
	l.conf.Ports = l.net.ports
	conf := l.conf
	l.mu.Unlock()
	if err := l.startComponent(ctx, conf.PrometheusReplica()); err != nil {
		return fmt.Errorf("start a second Prometheus: %w", err)
	}
	listener := l.net.listener(conf.Ports.PrometheusShared)
	if listener == nil {
		return errors.New("start a second Prometheus: the lab is stopping")
	}
	l.share(takeTurns(listener, hostPort(conf.Address, conf.Ports.Prometheus), hostPort(conf.Address, conf.Ports.PrometheusReplica)))
	return nil
}

// share replaces the shared address of both Prometheus replicas; next may be nil.
func (l *Lab) share(next *turns) {
	l.mu.Lock()
	was := l.shared
	l.shared = next
	l.mu.Unlock()
	was.close()
}

// SharedPrometheusURL alternates between two Prometheus replicas; empty if there is one.
func (l *Lab) SharedPrometheusURL() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.conf.SharedPrometheusURL()
}
