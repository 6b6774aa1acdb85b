package drift

import (
	"fmt"
	"slices"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/collective"
	"github.com/firstlight/firstlight/internal/gate/inference"
	"github.com/firstlight/firstlight/internal/gate/training"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Figure has the values of one figure of a run: one for each repetition, step or request.
type Figure struct {
	Gate           string    `json:"gate"`
	Name           string    `json:"name"`
	Unit           string    `json:"unit"`
	HigherIsBetter bool      `json:"higherIsBetter,omitempty"`
	Values         []float64 `json:"values"`
}

// measure reads the figures of a gate from its observations.
func measure(gate string, obs []check.Observation, p *profile.Profile) []Figure {
	switch gate {
	case collective.Name:
		return bandwidths(obs, p)
	case training.Name:
		return steps(obs, p)
	case inference.Name:
		return latencies(obs)
	default:
		return nil
	}
}

// bandwidths are the bus bandwidths of all nodes at the sizes that the gate judges, by collective and rail. The
// name of the all-reduce is that of baselines of earlier versions.
func bandwidths(obs []check.Observation, p *profile.Profile) []Figure {
	var out []Figure
	for _, o := range check.OfKind(obs, collective.KindRun) {
		f, err := check.Decode[collective.Figures](o)
		if err != nil || f.Scope != collective.ScopeAll && f.Scope != collective.ScopeRail {
			continue
		}
		of, rail := "all_reduce", ""
		if f.Collective != "" {
			of = f.Collective
		}
		if f.Rail != "" {
			rail = " over rail " + f.Rail
		}
		out = append(out, Figure{
			Gate: collective.Name, Unit: "GB/s", HigherIsBetter: true, Values: f.Repeated(int(p.Collective.LargestSizes.Value)),
			Name: fmt.Sprintf("%s busbw of %d nodes%s up to %d bytes", of, len(f.Nodes), rail, f.MaxBytes),
		})
	}
	return present(out)
}

// steps are the times of the training's steps after the warm-up, each that of its slowest rank,
// and the TFLOPS of a GPU, each step's median.
func steps(obs []check.Observation, p *profile.Profile) []Figure {
	times, tflops := map[int]float64{}, map[int][]float64{}
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
	step := Figure{Gate: training.Name, Name: "step time", Unit: "ms"}
	for _, ms := range times {
		step.Values = append(step.Values, ms)
	}
	speed := Figure{Gate: training.Name, Name: "TFLOPS a GPU", Unit: "TFLOPS", HigherIsBetter: true}
	for _, values := range tflops {
		slices.Sort(values)
		speed.Values = append(speed.Values, check.Percentile(values, 50))
	}
	return present([]Figure{step, speed})
}

// latencies of the measured requests.
func latencies(obs []check.Observation) []Figure {
	load := lastLoad(obs)
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
	return present([]Figure{ttft, tpot})
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
