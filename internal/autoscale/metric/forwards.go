package metric

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/origin"
	"github.com/firstlight/firstlight/internal/probe/prom"
)

// maxExposition bounds an exporter's response.
const maxExposition = 16 << 20

// forwards read exporters through port-forwards that stay open between reads.
type forwards struct {
	cluster *kube.Cluster
	client  *http.Client

	mu   sync.Mutex
	open map[string]opened // by node
}

type opened struct {
	pod     exporterPod
	address string
	stop    func()
}

func newForwards(c *kube.Cluster) *forwards {
	return &forwards{
		cluster: c, open: map[string]opened{},
		client: origin.Forwarded(&http.Transport{DisableKeepAlives: true}),
	}
}

// read reads the series of an exporter.
func (f *forwards) read(ctx context.Context, pod exporterPod, series string) ([]prom.Sample, error) {
	address, err := f.to(ctx, pod)
	if err != nil {
		return nil, err
	}
	raw, err := f.get(ctx, "http://"+address+"/metrics")
	if err != nil {
		f.drop(pod.node)
		return nil, fmt.Errorf("read exporter %s/%s: %w", pod.namespace, pod.name, err)
	}
	samples, err := prom.ParseExposition(raw, series)
	if err != nil {
		return nil, fmt.Errorf("read exporter %s/%s: %w", pod.namespace, pod.name, err)
	}
	return samples, nil
}

func (f *forwards) get(ctx context.Context, url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	resp, err := f.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("send request: %w", err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxExposition))
	if err != nil {
		return nil, fmt.Errorf("read response: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %.100s", resp.Status, strings.TrimSpace(string(raw)))
	}
	return raw, nil
}

// to returns the local address of a port-forward to a pod, opened if needed.
func (f *forwards) to(ctx context.Context, pod exporterPod) (string, error) {
	f.mu.Lock()
	have, ok := f.open[pod.node]
	f.mu.Unlock()
	if ok && have.pod == pod {
		return have.address, nil
	}
	f.drop(pod.node)
	address, stop, err := f.cluster.Forward(ctx, pod.namespace, pod.name, pod.port)
	if err != nil {
		return "", err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open[pod.node] = opened{pod: pod, address: address, stop: stop}
	return address, nil
}

func (f *forwards) drop(node string) {
	f.mu.Lock()
	have, ok := f.open[node]
	delete(f.open, node)
	f.mu.Unlock()
	if ok {
		have.stop()
	}
}

func (f *forwards) close() {
	f.mu.Lock()
	nodes := make([]string, 0, len(f.open))
	for n := range f.open {
		nodes = append(nodes, n)
	}
	f.mu.Unlock()
	for _, n := range nodes {
		f.drop(n)
	}
}

// lookWithin bounds one read.
const lookWithin = 10 * time.Second
