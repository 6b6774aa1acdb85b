package telemetry

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/prom"
)

// answersWanted is the number of consecutive complete answers required. If a defective replica
// answers every third query at random, all of them miss it once in 130 times; with round robin, of
// connections or of requests, never.
const answersWanted = 12

const scrapeRemedy = "compare scrape_duration_seconds of the exporters with their scrape timeout, and look for failed scrapes (up == 0); relieve the machine of Prometheus; then run the gate again"

const replicaRemedy = "query each Prometheus behind the address (kubectl port-forward to each pod): its targets, storage and start time; " +
	"or set reach.prometheus to an endpoint that merges them"

// observeAnswers queries the series repeatedly, on a new connection each time, since a Service
// or a balancer may then select another replica. An incomplete round is repeated, since a
// scrape may have failed meanwhile.
func (g *Gate) observeAnswers(ctx context.Context, p prom.Prometheus, rec check.Recorder) error {
	rec.Progress("querying the series on %d connections", answersWanted)
	return g.poll(ctx, g.telemetry.ScrapeInterval.D(), g.settle(), func(last bool) (bool, error) {
		attempt := g.begin(rec, kindAnswers, p.Name(), fmt.Sprintf("%d times, each on a new connection: GET /api/v1/status/runtimeinfo before and after %s", answersWanted, seriesCommand(p)))
		var figures answersFigures
		for i := range answersWanted {
			p.Close()
			process, _ := p.Process(ctx) // unknown where the address does not serve it
			state, _, err := readSeries(ctx, p)
			several := false
			if after, _ := p.Process(ctx); after != process {
				several = process != "" && after != ""
				process = "" // the series may be of either
			}
			if i%2 == 1 { // a balancer of each request in turn must not lead all series to one replica
				_, _ = p.Process(ctx) // only to take a turn
			}
			if ctx.Err() != nil {
				return false, ctx.Err()
			}
			a := answerOf(state, err)
			a.Process, a.Several = process, several
			figures.Answers = append(figures.Answers, a)
		}
		complete := len(g.partialAnswers(figures)) == 0
		if !complete && !last {
			return false, nil
		}
		return true, attempt.Record(figures, nil)
	})
}

func answerOf(state seriesFigures, err error) answer {
	a := answer{Now: state.Now, Hosts: map[string]hostAnswer{}}
	if err != nil {
		a.Err = err.Error()
		return a
	}
	seen := map[string]bool{}
	for _, s := range state.Series {
		h := a.Hosts[s.Host]
		if s.UUID != "" && !seen[s.Host+"/"+s.UUID] {
			seen[s.Host+"/"+s.UUID] = true
			h.GPUs++
		}
		if h.Oldest.IsZero() || s.Sampled.Before(h.Oldest) {
			h.Oldest = s.Sampled
		}
		a.Hosts[s.Host] = h
	}
	return a
}

// partialAnswer is an incomplete answer: its missing series, or its samples that are older than in an earlier answer,
// which a single Prometheus never returns.
type partialAnswer struct {
	lacks string
	older bool
}

// partialAnswers are the incomplete answers.
func (g *Gate) partialAnswers(f answersFigures) []partialAnswer {
	var out []partialAnswer
	newest := map[string]time.Time{}
	for _, a := range f.Answers {
		byNode := map[string]hostAnswer{}
		for host, h := range a.Hosts {
			byNode[g.host(host)] = h
		}
		var lacks []string
		older := false
		if a.Err != "" {
			lacks = append(lacks, a.Err)
		}
		for _, node := range g.nodes {
			h := byNode[node]
			back := newest[node].Sub(h.Oldest)
			switch {
			case a.Err != "":
			case h.GPUs != g.gpus:
				lacks = append(lacks, fmt.Sprintf("%s has series of %d of %d GPUs", node, h.GPUs, g.gpus))
			case !newest[node].IsZero() && back > g.maxAge:
				older = true
				lacks = append(lacks, fmt.Sprintf("samples of %s are %s older than in an earlier answer", node, back.Round(time.Millisecond)))
			case h.Oldest.After(newest[node]):
				newest[node] = h.Oldest
			}
		}
		if len(lacks) > 0 {
			out = append(out, partialAnswer{strings.Join(lacks, ", "), older})
		}
	}
	return out
}

// oneProcess reports whether all answers are known to be of one process.
func oneProcess(f answersFigures) bool {
	return !slices.ContainsFunc(f.Answers, func(a answer) bool { return a.Process == "" || a.Process != f.Answers[0].Process })
}

// severalProcesses reports whether answers are known to be of different processes.
func severalProcesses(f answersFigures) bool {
	known := map[string]bool{}
	for _, a := range f.Answers {
		if a.Several {
			return true
		}
		if a.Process != "" {
			known[a.Process] = true
		}
	}
	return len(known) > 1
}

// judgeAnswers requires that every answer is complete.
func (g *Gate) judgeAnswers(b *check.Builder, obs []check.Observation) {
	f, o, ok := check.RequireLast[answersFigures](b, obs, kindAnswers, "", "Prometheus' replicas", prometheusRemedy)
	if !ok {
		return
	}
	if len(f.Answers) < answersWanted {
		b.Unobserved(o.ID, "Prometheus' replicas", "run the gate again", "only %d answers were observed, want %d", len(f.Answers), answersWanted)
		return
	}
	if !slices.ContainsFunc(f.Answers, func(a answer) bool { return a.Err == "" }) {
		b.Unobserved(o.ID, "Prometheus", prometheusRemedy, "no further answer could be read: %s", f.Answers[0].Err)
		return
	}
	for _, a := range f.Answers {
		for _, host := range sortedKeys(a.Hosts) {
			if a.Hosts[host].Oldest.IsZero() {
				b.Unobserved(o.ID, "Prometheus' replicas", "run the gate again", "an answer has no timestamps of the samples of %s", host)
				return
			}
		}
	}
	switch partial := g.partialAnswers(f); {
	case len(partial) == 0:
	case oneProcess(f):
		b.Unobserved(o.ID, "Prometheus", scrapeRemedy, "%d of %d answers are incomplete (%s), and all are of one process: scrapes or queries fail at times", len(partial), len(f.Answers), partial[0].lacks)
	case !severalProcesses(f) && !slices.ContainsFunc(partial, func(p partialAnswer) bool { return p.older }):
		b.Unobserved(o.ID, "Prometheus", replicaRemedy+"; or, of one Prometheus: "+scrapeRemedy,
			"%d of %d answers are incomplete (%s), and not every answer names its process (/api/v1/status/runtimeinfo): whether several replicas answer is unknown",
			len(partial), len(f.Answers), partial[0].lacks)
	default:
		b.Fail(o.ID, "Prometheus", replicaRemedy, "%d of %d answers are incomplete (%s), but one was complete: several Prometheus replicas answer at %s, and not all have the series",
			len(partial), len(f.Answers), partial[0].lacks, o.Target)
	}
}
