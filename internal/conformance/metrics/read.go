package metrics

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/probe/prom"
)

// read queries all metrics and the timestamps of their samples, all at one time of
// Prometheus' clock.
func (c *Check) read(ctx context.Context, p prom.Prometheus) (samples, []byte, error) {
	out := samples{GPUs: []gpu{}}
	var raw [][]byte
	byKey := map[string]*gpu{}
	for _, m := range c.metrics {
		values, text, err := p.Query(ctx, m.Name, out.Now)
		raw = append(raw, text)
		if err != nil {
			return out, bytes.Join(raw, []byte("\n")), err
		}
		if len(values) == 0 {
			continue
		}
		if out.Now.IsZero() {
			out.Now = values[0].At
		}
		stamps, text, err := p.Query(ctx, "timestamp("+m.Name+")", out.Now)
		raw = append(raw, text)
		if err != nil {
			return out, bytes.Join(raw, []byte("\n")), err
		}
		if err := join(byKey, m.Name, values, stamps); err != nil {
			return out, bytes.Join(raw, []byte("\n")), err
		}
	}
	for _, g := range byKey {
		out.GPUs = append(out.GPUs, *g)
	}
	slices.SortFunc(out.GPUs, func(a, b gpu) int {
		return cmp.Or(cmp.Compare(a.Host, b.Host), cmp.Compare(len(a.Index), len(b.Index)), cmp.Compare(a.Index, b.Index), cmp.Compare(a.UUID, b.UUID))
	})
	return out, bytes.Join(raw, []byte("\n")), nil
}

// join adds the samples of one metric to their GPUs.
func join(byKey map[string]*gpu, name string, values, stamps []prom.Sample) error {
	at := make(map[string]float64, len(stamps))
	for _, s := range stamps {
		at[s.Series()] = s.Value
	}
	for _, v := range values {
		taken, ok := at[v.Series()]
		if !ok {
			return fmt.Errorf("series %s%v has no timestamp", name, v.Labels)
		}
		g := gpuOf(v.Labels)
		key := g.Host + "\x00" + g.UUID + "\x00" + g.Index
		have := byKey[key]
		if have == nil {
			g.Samples = map[string][]sample{}
			have = &g
			byKey[key] = have
		}
		have.Samples[name] = append(have.Samples[name], sample{
			Value: v.Value, At: time.UnixMilli(int64(taken * 1000)).UTC(), Instance: v.Labels["instance"],
		})
	}
	return nil
}

// gpuOf reads the GPU of a series, and the pod that uses it. Where Prometheus keeps its own
// labels, those of the pod are exported_namespace and exported_pod.
func gpuOf(labels map[string]string) gpu {
	g := gpu{UUID: labels["UUID"], Index: labels["gpu"], Node: labels["node"], Namespace: labels["namespace"], Pod: labels["pod"]}
	if labels["exported_pod"] != "" {
		g.Namespace, g.Pod = labels["exported_namespace"], labels["exported_pod"]
	}
	for name, value := range labels {
		if strings.EqualFold(name, "hostname") {
			g.Host = value
		}
	}
	return g
}
