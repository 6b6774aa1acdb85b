package metric

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/probe/prom"
)

// Sweep reads all GPUs of nodes in their exporters once, before the load.
func (s *Sampler) Sweep(ctx context.Context, nodes []string) {
	ctx, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	s.findPods(ctx)
	s.readNodes(ctx, nodes, func(prom.Sample) bool { return true })
}

// Load sets the pods whose GPUs are read in the exporters; none stops the reads.
func (s *Sampler) Load(pods []snapshot.Pod) {
	load := map[string]bool{}
	for _, p := range pods {
		if p.Node != "" {
			load[p.Node+"/"+p.Name] = true
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.load = load
	if len(load) == 0 {
		maps.DeleteFunc(s.problems, func(name, _ string) bool { return strings.HasPrefix(name, snapshot.ProblemExporter+"/") })
	}
}

func (s *Sampler) readExporters(ctx context.Context) {
	s.mu.Lock()
	var nodes []string
	for key := range s.load {
		if node, _, ok := strings.Cut(key, "/"); ok && !slices.Contains(nodes, node) {
			nodes = append(nodes, node)
		}
	}
	s.mu.Unlock()
	if len(nodes) == 0 {
		return
	}
	s.readNodes(ctx, nodes, nil)
}

// errNoExporter: the node has no pod of dcgm-exporter.
var errNoExporter = errors.New("no dcgm-exporter pod is on this node")

// mostAtOnce bounds the concurrent exporter reads.
const mostAtOnce = 8

// readNodes reads exporters. wanted nil: the GPUs of the load's pods.
func (s *Sampler) readNodes(ctx context.Context, nodes []string, wanted func(prom.Sample) bool) {
	s.mu.Lock()
	pods := map[string]exporterPod{}
	for _, p := range s.pods {
		pods[p.node] = p
	}
	s.mu.Unlock()
	var readers sync.WaitGroup
	slots := make(chan struct{}, mostAtOnce)
	for _, node := range nodes {
		pod, ok := pods[node]
		if !ok {
			s.keep(ctx, snapshot.ProblemExporter+"/"+node, errNoExporter, func(time.Time) {})
			continue
		}
		readers.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			s.readNode(ctx, pod, wanted)
		})
	}
	readers.Wait()
}

func (s *Sampler) readNode(ctx context.Context, pod exporterPod, wanted func(prom.Sample) bool) {
	samples, err := s.forwards.read(ctx, pod, s.c.Metric.Series)
	s.keep(ctx, snapshot.ProblemExporter+"/"+pod.node, err, func(now time.Time) {
		for _, v := range samples {
			ours := v.Labels["namespace"] == s.c.Namespace && s.load[pod.node+"/"+v.Labels["pod"]]
			if wanted == nil && !ours {
				continue
			}
			s.exporter = add(s.exporter, snapshot.Reading{At: now, Value: v.Value, Where: pod.node + "/gpu" + v.Labels["gpu"]})
		}
	})
}
