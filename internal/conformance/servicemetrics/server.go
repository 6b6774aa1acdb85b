package servicemetrics

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/gate/gangjob"
	"github.com/firstlight/firstlight/internal/gate/inference"
	"github.com/firstlight/firstlight/internal/probe/origin"
	"github.com/firstlight/firstlight/internal/probe/prom"
	"github.com/firstlight/firstlight/internal/probe/vllm"
	"github.com/firstlight/firstlight/internal/workload"
)

const (
	jobName = "service-metrics"
	// removeWithin bounds the removal of the server when the check itself is ended.
	removeWithin = 3 * time.Minute
	// lookWithin bounds one look at the server, maxMetrics what is read of its metrics.
	lookWithin = 10 * time.Second
	maxMetrics = 8 << 20
)

// start starts the server and waits until its pod runs. The gang is there to be
// removed also when there is an error.
func (o *observer) start(ctx context.Context) (*workload.Gang, pod, error) {
	launcher, err := gangjob.Deps{Cluster: o.open, RunID: o.deps.RunID}.Launcher(ctx, o.site)
	if err != nil {
		return nil, pod{}, err //nolint:wrapcheck // says what it did
	}
	spec := inference.Workload(o.site, jobName, Name)
	why, err := gangjob.Free(ctx, o.cluster, spec)
	if err == nil && why != "" {
		err = errors.New(why)
	}
	if err != nil {
		return nil, pod{}, err
	}
	gang, err := launcher.Start(ctx, spec)
	if err != nil {
		return nil, pod{}, fmt.Errorf("start the server: %w", err)
	}
	if err := gang.WaitRunning(ctx); err != nil {
		return gang, pod{}, fmt.Errorf("start the server: %w", err)
	}
	pods, err := gang.Pods(ctx)
	if err != nil {
		return gang, pod{}, fmt.Errorf("find the server's pod: %w", err)
	}
	if len(pods) != 1 {
		return gang, pod{}, fmt.Errorf("the server has %d pods", len(pods))
	}
	return gang, podOf(&pods[0]), nil
}

func podOf(p *corev1.Pod) pod {
	return pod{Namespace: p.Namespace, Name: p.Name, UID: string(p.UID), IP: p.Status.PodIP, Node: p.Spec.NodeName, Phase: string(p.Status.Phase)}
}

// now is the pod as it is.
func (o *observer) now(ctx context.Context, p pod) (pod, error) {
	got, err := o.cluster.Client.CoreV1().Pods(p.Namespace).Get(ctx, p.Name, metav1.GetOptions{})
	if err != nil {
		return pod{}, fmt.Errorf("read pod %s: %w", p.Name, err)
	}
	return podOf(got), nil
}

// ready waits until the server answers, and opens a way to it.
func (o *observer) ready(ctx context.Context, p pod) (base string, stop func(), err error) {
	for {
		if base, stop, err = o.healthy(ctx, p); err == nil {
			return base, stop, nil
		}
		if pauseErr := o.pause(ctx, time.Second); pauseErr != nil {
			return "", nil, fmt.Errorf("wait for the server: %w; the last look: %w", pauseErr, err)
		}
	}
}

func (o *observer) healthy(ctx context.Context, p pod) (base string, stop func(), err error) {
	limited, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	address, stop, err := o.cluster.Forward(limited, p.Namespace, p.Name, inference.Port)
	if err != nil {
		return "", nil, err //nolint:wrapcheck // says where
	}
	base = "http://" + address
	if err := (&vllm.Client{Base: base, HTTP: origin.Forwarded(http.DefaultTransport), Now: o.deps.Clock.Now}).Health(limited); err != nil {
		stop()
		return "", nil, err //nolint:wrapcheck // says what
	}
	return base, stop, nil
}

// exposed is the series as the server exposes it itself.
func (o *observer) exposed(ctx context.Context, base string) (value float64, there bool, err error) {
	limited, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	req, err := http.NewRequestWithContext(limited, http.MethodGet, base+"/metrics", nil)
	if err != nil {
		return 0, false, fmt.Errorf("ask the server for its metrics: %w", err)
	}
	resp, err := origin.Forwarded(http.DefaultTransport).Do(req)
	if err != nil {
		return 0, false, fmt.Errorf("ask the server for its metrics: %w", err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxMetrics))
	if err != nil || resp.StatusCode != http.StatusOK {
		return 0, false, fmt.Errorf("read the server's metrics: %s: %w", resp.Status, err)
	}
	found, err := prom.ParseExposition(raw, series)
	if err != nil {
		return 0, false, fmt.Errorf("read the server's metrics: %w", err)
	}
	for _, s := range found {
		value += s.Value
	}
	return value, len(found) > 0, nil
}

// work keeps the server at so many requests until the context ends.
type work struct {
	mu           sync.Mutex
	done, failed int
	failure      string
	running      sync.WaitGroup
}

func (o *observer) work(ctx context.Context, base string) *work {
	w := &work{}
	s := o.site.Workloads.Inference
	client := &vllm.Client{Base: base, HTTP: origin.Forwarded(&http.Transport{MaxIdleConnsPerHost: requests}), Now: o.deps.Clock.Now}
	for range requests {
		w.running.Go(func() {
			for ctx.Err() == nil {
				_, _, err := client.Complete(ctx, vllm.Request{Model: s.Model, Prompt: s.Prompt, MaxTokens: max(256, s.OutputTokens), IgnoreEOS: true})
				if w.note(ctx, err) != nil && o.pause(ctx, time.Second) != nil {
					return
				}
			}
		})
	}
	return w
}

func (w *work) note(ctx context.Context, err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case err == nil:
		w.done++
	case ctx.Err() == nil:
		w.failed, w.failure = w.failed+1, err.Error()
	}
	return err
}

func (w *work) end() worked {
	w.running.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	return worked{Sent: requests, Done: w.done, Failed: w.failed, Failure: w.failure}
}
