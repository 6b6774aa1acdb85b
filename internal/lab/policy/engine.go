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

// Wanted is a policy that is to be in force.
type Wanted struct {
	Name string
	// Spare: only while a worker of a run runs. What comes before the first one
	// does, and that one itself, is left alone.
	Spare bool
}

// workers are the pods that an HPA of firstlight scales.
const workers = "firstlight.dev/role=worker"

// lookEvery is the pause between two looks at whether a worker runs.
const lookEvery = 200 * time.Millisecond

// Engine keeps policies in one API server.
type Engine struct {
	client  kubernetes.Interface
	dynamic dynamic.Interface
	log     *slog.Logger

	mu     sync.Mutex // held while policies come and go, so that they do in order
	wanted []Wanted
	// force are those that the API server applies, or may.
	force map[string]bool
}

// New makes an Engine that has put nothing anywhere.
func New(config *rest.Config, log *slog.Logger) (*Engine, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make policy engine: %w", err)
	}
	dyn, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make policy engine: %w", err)
	}
	return &Engine{client: client, dynamic: dyn, log: log, force: map[string]bool{}}, nil
}

// Set makes wanted the policies that there are. It returns when the API server
// applies those that are due and none of the others.
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

// Run follows the workers for the policies that spare the first, until ctx ends.
func (e *Engine) Run(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
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

// reconcile puts in force what is due and takes out what is not; mu is held.
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
	for name := range e.force {
		if !due[name] {
			errs = append(errs, e.remove(ctx, name))
		}
	}
	for _, w := range e.wanted {
		if due[w.Name] && !e.force[w.Name] {
			errs = append(errs, e.put(ctx, w.Name))
		}
	}
	return errors.Join(errs...)
}

func (e *Engine) workerRuns(ctx context.Context) (bool, error) {
	pods, err := e.client.CoreV1().Pods("").List(ctx, metav1.ListOptions{LabelSelector: workers})
	if err != nil {
		return false, fmt.Errorf("look for workers: %w", err)
	}
	return slices.ContainsFunc(pods.Items, func(p corev1.Pod) bool {
		return p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp == nil
	}), nil
}
