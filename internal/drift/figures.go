package drift

import (
	"fmt"
	"maps"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/collective"
	"github.com/firstlight/firstlight/internal/gate/inference"
	"github.com/firstlight/firstlight/internal/gate/training"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Figure has the values of one figure of a run: one for each repetition, step, GPU or request.
type Figure struct {
	Gate           string `json:"gate"`
	Name           string `json:"name"`
	Unit           string `json:"unit"`
	HigherIsBetter bool   `json:"higherIsBetter,omitempty"`
	// Bytes is the message size of a busbw at one size; 0 for other figures.
	Bytes int64 `json:"bytes,omitempty"`
	// Requests is the number of requests of which the only value is a share; 0 for other figures.
	Requests int       `json:"requests,omitempty"`
	Values   []float64 `json:"values"`
}

// basis is what figures depend on in addition to the observations.
type basis struct {
	profile *profile.Profile
	// objectives of a request. Without them goodput is not measured.
	objectives inference.Objectives
	// fromBytes is the smallest message size with a figure of its own.
	fromBytes int64
}

// measure reads the figures of a gate from its observations.
func measure(gate string, obs []check.Observation, by basis) []Figure {
	switch gate {
	case collective.Name:
		return bandwidths(obs, by)
	case training.Name:
		return append(steps(obs, by.profile), products(obs)...)
	case inference.Name:
		return requests(lastLoad(obs), by.objectives)
	default:
		return nil
	}
}

// stepTimes are the times of the training's steps after the warm-up, each that of its slowest rank, and the
// TFLOPS of the ranks, by step.
func stepTimes(obs []check.Observation, p *profile.Profile) (times map[int]float64, tflops map[int][]float64) {
	times, tflops = map[int]float64{}, map[int][]float64{}
	for _, o := range check.OfKind(obs, training.KindRanks) {
		f, err := check.Decode[training.RankFigures](o)
		if err != nil {
			continue
		}
		for _, r := range f.Ranks {
			for _, s := range r.Steps {
				if s.Step <= int(p.Training.WarmupSteps.Value) {
					continue
				}
				if s.Ms != nil {
					times[s.Step] = max(times[s.Step], *s.Ms)
				}
				if s.TFLOPS != nil {
					tflops[s.Step] = append(tflops[s.Step], *s.TFLOPS)
				}
			}
		}
	}
	return times, tflops
}

// steps are the step time and the TFLOPS of a GPU, each step's median.
func steps(obs []check.Observation, p *profile.Profile) []Figure {
	times, tflops := stepTimes(obs, p)
	step := Figure{Gate: training.Name, Name: "step time", Unit: "ms", Values: slices.Collect(maps.Values(times))}
	speed := Figure{Gate: training.Name, Name: "TFLOPS a GPU", Unit: "TFLOPS", HigherIsBetter: true}
	for _, values := range tflops {
		slices.Sort(values)
		speed.Values = append(speed.Values, check.Percentile(values, 50))
	}
	return present([]Figure{step, speed})
}

// products are the rates of the GPUs alone, which the gate measures before the training, by the size of the matrices.
func products(obs []check.Observation) []Figure {
	bySize := map[int][]float64{}
	for _, o := range check.OfKind(obs, training.KindRanks) {
		f, err := check.Decode[training.RankFigures](o)
		if err != nil {
			continue
		}
		for _, g := range f.GPUs {
			bySize[g.Size] = append(bySize[g.Size], g.TFLOPS)
		}
	}
	var out []Figure
	for _, size := range slices.Sorted(maps.Keys(bySize)) {
		out = append(out, Figure{Gate: training.Name, Name: fmt.Sprintf("matrix product of a GPU alone (%d rows)", size), Unit: "TFLOPS", HigherIsBetter: true, Values: bySize[size]})
	}
	return present(out)
}

// requests are the latencies of the measured requests, and the share of them within the objectives. Those of another
// client or with other objectives are other figures.
func requests(load inference.LoadFigures, o inference.Objectives) []Figure {
	from := ""
	if load.Client == site.ClientCluster {
		from = " inside the cluster" // not comparable with latencies through the API server
	}
	ttft := Figure{Gate: inference.Name, Name: "TTFT" + from, Unit: "ms"}
	tpot := Figure{Gate: inference.Name, Name: "TPOT" + from, Unit: "ms"}
	for _, r := range load.Requests {
		if r.TTFT != nil {
			ttft.Values = append(ttft.Values, *r.TTFT)
		}
		if r.TPOT != nil {
			tpot.Values = append(tpot.Values, *r.TPOT)
		}
	}
	good := Figure{Gate: inference.Name, Name: fmt.Sprintf("goodput%s (TTFT %g ms, TPOT %g ms)", from, o.TTFT, o.TPOT), Unit: "fraction", HigherIsBetter: true, Requests: len(load.Requests)}
	if good.Requests > 0 && o.TTFT > 0 && o.TPOT > 0 {
		good.Values = []float64{float64(o.Good(load)) / float64(good.Requests)}
	}
	return present([]Figure{ttft, tpot, good})
}

// present are the figures with values, each sorted: maps have no order.
func present(figures []Figure) []Figure {
	var out []Figure
	for _, f := range figures {
		if len(f.Values) > 0 {
			slices.Sort(f.Values)
			out = append(out, f)
		}
	}
	return out
}

// lastLoad is the load that the gate judges: the last one, since a stalled one is repeated. It is
// empty if that was not observed.
func lastLoad(obs []check.Observation) inference.LoadFigures {
	loads := check.OfKind(obs, inference.KindLoad)
	if len(loads) == 0 {
		return inference.LoadFigures{}
	}
	f, err := check.Decode[inference.LoadFigures](loads[len(loads)-1])
	if err != nil {
		return inference.LoadFigures{}
	}
	return f
}

// stalled is the longest time, in ms, by which the machines of firstlight and of a simulated server
// made a measured latency longer; 0 for gates without latencies.
func stalled(obs []check.Observation) float64 {
	f := lastLoad(obs)
	if f.ServerLate != nil {
		return f.ClientStall + f.ServerLate.Max
	}
	return f.ClientStall
}
