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
	// removeTimeout limits the removal of the server, also after the check was interrupted.
	removeTimeout = 3 * time.Minute
	// requestTimeout limits one request to the server, maxMetrics the size of its metrics.
	requestTimeout = 10 * time.Second
	maxMetrics     = 8 << 20
)

// start starts the server and waits until its pod runs. The gang must be removed also when
// there is an error.
func (o *observer) start(ctx context.Context) (*workload.Gang, pod, error) {
	launcher, err := gangjob.Deps{Cluster: o.open, RunID: o.deps.RunID}.Launcher(ctx, o.site)
	if err != nil {
		return nil, pod{}, err
	}
	spec := inference.Workload(o.site, jobName, Name)
	reason, err := gangjob.Free(ctx, launcher, spec)
	if err == nil && reason != "" {
		err = errors.New(reason)
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

func (o *observer) readPod(ctx context.Context, p pod) (pod, error) {
	got, err := o.cluster.Client.CoreV1().Pods(p.Namespace).Get(ctx, p.Name, metav1.GetOptions{})
	if err != nil {
		return pod{}, fmt.Errorf("read pod %s: %w", p.Name, err)
	}
	return podOf(got), nil
}

// ready waits until the server answers, and returns the URL of a port-forward to it.
func (o *observer) ready(ctx context.Context, p pod) (base string, stop func(), err error) {
	for {
		if base, stop, err = o.healthy(ctx, p); err == nil {
			return base, stop, nil
		}
		if pauseErr := o.pause(ctx, time.Second); pauseErr != nil {
			return "", nil, fmt.Errorf("wait for the server: %w (last: %w)", pauseErr, err)
		}
	}
}

func (o *observer) healthy(ctx context.Context, p pod) (base string, stop func(), err error) {
	limited, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	address, stop, err := o.cluster.Forward(limited, p.Namespace, p.Name, inference.Port)
	if err != nil {
		return "", nil, err
	}
	base = "http://" + address
	if err := (&vllm.Client{Base: base, HTTP: origin.Forwarded(http.DefaultTransport), Now: o.deps.Clock.Now}).Health(limited); err != nil {
		stop()
		return "", nil, err
	}
	return base, stop, nil
}

// exposed reads the metric from the server's own /metrics.
func (o *observer) exposed(ctx context.Context, base string) (value float64, found bool, err error) {
	limited, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(limited, http.MethodGet, base+"/metrics", nil)
	if err != nil {
		return 0, false, fmt.Errorf("request the server's metrics: %w", err)
	}
	resp, err := origin.Forwarded(http.DefaultTransport).Do(req)
	if err != nil {
		return 0, false, fmt.Errorf("request the server's metrics: %w", err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxMetrics))
	if err != nil || resp.StatusCode != http.StatusOK {
		return 0, false, fmt.Errorf("read the server's metrics: %s: %w", resp.Status, err)
	}
	samples, err := prom.ParseExposition(raw, series)
	if err != nil {
		return 0, false, fmt.Errorf("read the server's metrics: %w", err)
	}
	for _, s := range samples {
		value += s.Value
	}
	return value, len(samples) > 0, nil
}

// load keeps concurrent requests running until its context ends.
type load struct {
	mu           sync.Mutex
	done, failed int
	failure      string
	running      sync.WaitGroup
}

func (o *observer) startLoad(ctx context.Context, base string) *load {
	w := &load{}
	s := o.site.Workloads.Inference
	client := &vllm.Client{Base: base, HTTP: origin.Forwarded(&http.Transport{MaxIdleConnsPerHost: concurrency}), Now: o.deps.Clock.Now}
	for range concurrency {
		w.running.Go(func() {
			for ctx.Err() == nil {
				_, _, err := client.Complete(ctx, vllm.Request{Model: s.Model, Prompt: s.Prompt, MaxTokens: max(256, s.OutputTokens), IgnoreEOS: true})
				if w.count(ctx, err) != nil && o.pause(ctx, time.Second) != nil {
					return
				}
			}
		})
	}
	return w
}

func (w *load) count(ctx context.Context, err error) error {
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

func (w *load) wait() underLoad {
	w.running.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	return underLoad{Sent: concurrency, Done: w.done, Failed: w.failed, Failure: w.failure}
}
