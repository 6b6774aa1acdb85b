package nvcre

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
)

// The observations that are read here, by kind: as they are stored, by their
// JSON alone, like any other reader of evidence.
const (
	kindCollective = "nccl-tests"
	kindTraining   = "training-job"
)

// collectiveFigures are those of one job of nccl-tests over a group of nodes.
type collectiveFigures struct {
	Scope string   `json:"scope"`
	Nodes []string `json:"nodes"`
	Runs  []struct {
		Test string `json:"test"`
		Rows []struct {
			Bytes      int64      `json:"bytes"`
			OutOfPlace *bandwidth `json:"outOfPlace"`
			InPlace    *bandwidth `json:"inPlace"`
		} `json:"rows"`
	} `json:"runs"`
	NCCL struct {
		Hosts []struct {
			Networks []string `json:"networks"`
		} `json:"hosts"`
	} `json:"nccl"`
}

type bandwidth struct {
	AlgBW float64 `json:"algbwGBps"`
	BusBW float64 `json:"busbwGBps"`
}

// collective takes bandwidth from the job over all nodes.
func collective(c *Category, obs []check.Observation) {
	for _, o := range check.OfKind(obs, kindCollective) {
		f, err := check.Decode[collectiveFigures](o)
		if err != nil || f.Scope != "all" || len(f.Runs) == 0 {
			continue
		}
		c.Domain, c.Variant = "communication", variantOf(f.Runs[0].Test)
		c.NodesPerJob, c.Jobs = len(f.Nodes), 1
		if row, ok := largest(f); ok {
			c.Bandwidth = []Bandwidth{row}
		}
		for _, h := range f.NCCL.Hosts {
			c.Transport = append(c.Transport, h.Networks...)
		}
		slices.Sort(c.Transport)
		c.Transport = slices.Compact(c.Transport)
		return
	}
}

// variantOf is the catalogue's name of a test: all_reduce_perf is nccl-all-reduce.
func variantOf(test string) string {
	return "nccl-" + strings.ReplaceAll(strings.TrimSuffix(test, "_perf"), "_", "-")
}

// largest averages the samples of the largest message over all repetitions.
func largest(f collectiveFigures) (Bandwidth, bool) {
	var size int64
	var alg, bus float64
	n := 0
	for _, run := range f.Runs {
		for _, row := range run.Rows {
			if row.Bytes > size {
				size, alg, bus, n = row.Bytes, 0, 0, 0
			}
			for _, s := range []*bandwidth{row.OutOfPlace, row.InPlace} {
				if s != nil && row.Bytes == size {
					alg, bus, n = alg+s.AlgBW, bus+s.BusBW, n+1
				}
			}
		}
	}
	if n == 0 {
		return Bandwidth{}, false
	}
	speed := func(sum float64) string { return fmt.Sprintf("%.2f GB/s", sum/float64(n)) }
	return Bandwidth{Size: sizeOf(size), AlgBW: speed(alg), BusBW: speed(bus), Samples: n}, true
}

// sizeOf writes powers of 1024 the way the engine does.
func sizeOf(n int64) string {
	for _, u := range []struct {
		one  int64
		name string
	}{{1 << 30, "GB"}, {1 << 20, "MB"}, {1 << 10, "KB"}} {
		if n >= u.one {
			return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/float64(u.one)), ".0") + " " + u.name
		}
	}
	return fmt.Sprintf("%d B", n)
}

// training names the model that was trained.
func training(c *Category, obs []check.Observation) {
	type figures struct {
		Model string   `json:"model"`
		Nodes []string `json:"nodes"`
	}
	for _, o := range check.OfKind(obs, kindTraining) {
		if f, err := check.Decode[figures](o); err == nil && f.Model != "" {
			c.Domain, c.Variant, c.NodesPerJob, c.Jobs = "training", f.Model, len(f.Nodes), 1
			return
		}
	}
}
