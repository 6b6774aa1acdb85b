package policy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// Wanted is a policy to apply.
type Wanted struct {
	Name string
	// Spare applies the policy only while a worker of a run is Running. The first worker and
	// objects created before it are not changed.
	Spare bool
}

// workers selects the pods that firstlight's HPA scales.
const workers = "firstlight.dev/role=worker"

// workerInterval is the interval of checks for running workers.
const workerInterval = 200 * time.Millisecond

// Engine applies policies to one API server.
type Engine struct {
	client  kubernetes.Interface
	dynamic dynamic.Interface
	log     *slog.Logger

	mu     sync.Mutex // serializes changes of policies
	wanted []Wanted
	// applied has the policies that the API server may apply.
	applied map[string]bool
}

// New returns an Engine without policies.
func New(config *rest.Config, log *slog.Logger) (*Engine, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make policy engine: %w", err)
	}
	dyn, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make policy engine: %w", err)
	}
	return &Engine{client: client, dynamic: dyn, log: log, applied: map[string]bool{}}, nil
}

// Set replaces the wanted policies and returns when the API server applies exactly those that are
// due.
func (e *Engine) Set(ctx context.Context, wanted []Wanted) error {
	for _, w := range wanted {
		if _, err := find(w.Name); err != nil {
			return err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.wanted = slices.Clone(wanted)
	return e.reconcile(ctx)
}

// Run applies and removes policies with Spare as workers come and go, until ctx ends.
func (e *Engine) Run(ctx context.Context) {
	tick := time.NewTicker(workerInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		e.mu.Lock()
		var err error
		if e.sparing() {
			err = e.reconcile(ctx)
		}
		e.mu.Unlock()
		if err != nil && ctx.Err() == nil {
			e.log.Warn("policies", "err", err)
		}
	}
}

func (e *Engine) sparing() bool {
	return slices.ContainsFunc(e.wanted, func(w Wanted) bool { return w.Spare })
}

// reconcile requires mu.
func (e *Engine) reconcile(ctx context.Context) error {
	running := false
	if e.sparing() {
		var err error
		if running, err = e.workerRuns(ctx); err != nil {
			return err
		}
	}
	due := map[string]bool{}
	for _, w := range e.wanted {
		due[w.Name] = !w.Spare || running
	}
	var errs []error
	for name := range e.applied {
		if !due[name] {
			errs = append(errs, e.remove(ctx, name))
		}
	}
	for _, w := range e.wanted {
		if due[w.Name] && !e.applied[w.Name] {
			errs = append(errs, e.put(ctx, w.Name))
		}
	}
	return errors.Join(errs...)
}

func (e *Engine) workerRuns(ctx context.Context) (bool, error) {
	pods, err := e.client.CoreV1().Pods("").List(ctx, metav1.ListOptions{LabelSelector: workers})
	if err != nil {
		return false, fmt.Errorf("list workers: %w", err)
	}
	return slices.ContainsFunc(pods.Items, func(p corev1.Pod) bool {
		return p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp == nil
	}), nil
}
