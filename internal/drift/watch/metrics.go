package watch

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/firstlight/firstlight/internal/check"
)

var (
	infoDesc = prometheus.NewDesc("firstlight_watch_info",
		"1, with the accepted run that the watch compares with.", []string{"site", "cluster", "run"}, nil)
	stateDesc = prometheus.NewDesc("firstlight_watch_state",
		"State of a check of a node in the last round: 0 ok, 1 failed, 2 unobserved (also before the first round and once it is too old), 3 changed since the accepted run.", []string{"site", "node", "check"}, nil)
	ageDesc = prometheus.NewDesc("firstlight_watch_observation_age_seconds",
		"Time since the newest observation of a node that succeeded; +Inf until the first one of this process.", []string{"site", "node"}, nil)
	roundAgeDesc = prometheus.NewDesc("firstlight_watch_round_age_seconds",
		"Time since the last round ended; +Inf until the first one of this process.", []string{"site"}, nil)
	roundsDesc = prometheus.NewDesc("firstlight_watch_rounds_total",
		"Rounds of this process.", []string{"site"}, nil)
	transitionsDesc = prometheus.NewDesc("firstlight_watch_transitions_total",
		"Transitions in the journal, by node and new state; absent for a node without one.", []string{"site", "node", "to"}, nil)
	errorsDesc = prometheus.NewDesc("firstlight_watch_observation_errors_total",
		"Commands of this process that failed or were not run in time, by node.", []string{"site", "node"}, nil)
)

// seen is what metrics show.
type seen struct {
	rounds int
	ended  time.Time
	// last has the state of each check in the last round.
	last        map[cellKey]State
	observed    map[string]time.Time
	errors      map[string]int
	transitions map[cellKey]int // check is the new state
}

func newSeen() seen {
	return seen{last: map[cellKey]State{}, observed: map[string]time.Time{}, errors: map[string]int{}, transitions: map[cellKey]int{}}
}

func (s *seen) count(t Transition) { s.transitions[cellKey{t.Node, string(t.To)}]++ }

func (s *seen) round(at time.Time, round []Reading, obs []check.Observation, missed map[string]string) {
	s.rounds++
	s.ended = at
	clear(s.last)
	for _, r := range round {
		s.last[cellKey{r.Node, r.Check}] = r.State
	}
	failed := map[string]int{}
	for _, o := range obs {
		switch {
		case o.Failed():
			failed[o.Target]++
		case o.At.After(s.observed[o.Target]):
			s.observed[o.Target] = o.At
		}
	}
	for host := range missed {
		failed[host] = max(1, failed[host])
	}
	for host, n := range failed {
		s.errors[host] += n
	}
}

// Describe implements prometheus.Collector.
func (w *Watch) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{infoDesc, stateDesc, ageDesc, roundAgeDesc, roundsDesc, transitionsDesc, errorsDesc} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (w *Watch) Collect(ch chan<- prometheus.Metric) {
	w.mu.Lock()
	defer w.mu.Unlock()
	h, now := w.o.Accepted.Header, w.o.Clock.Now()
	send := func(d *prometheus.Desc, kind prometheus.ValueType, value float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, kind, value, append([]string{h.Site}, labels...)...)
	}
	send(infoDesc, prometheus.GaugeValue, 1, h.Cluster, h.Run)
	send(roundAgeDesc, prometheus.GaugeValue, age(now, w.seen.ended))
	send(roundsDesc, prometheus.CounterValue, float64(w.seen.rounds))
	stale := now.Sub(w.seen.ended) > time.Duration(w.settings.StaleIntervals.Value*float64(w.o.Every))
	for _, key := range w.keys() {
		state, ok := w.seen.last[key]
		if !ok || stale {
			state = Unobserved
		}
		send(stateDesc, prometheus.GaugeValue, float64(slices.Index(States(), state)), key.node, key.check)
	}
	for _, m := range w.o.Accepted.Machines {
		send(ageDesc, prometheus.GaugeValue, age(now, w.seen.observed[m.Host]), m.Host)
		send(errorsDesc, prometheus.CounterValue, float64(w.seen.errors[m.Host]), m.Host)
	}
	for key := range maps.Keys(w.seen.transitions) {
		send(transitionsDesc, prometheus.CounterValue, float64(w.seen.transitions[key]), key.node, key.check)
	}
}

// keys are the checks of all nodes: they have a state before the first round, too.
func (w *Watch) keys() []cellKey {
	var out []cellKey
	for _, g := range w.o.Gates {
		for _, name := range g.Nodes() {
			for _, kind := range g.Kinds() {
				out = append(out, cellKey{name, kind})
			}
		}
	}
	for _, m := range w.o.Accepted.Machines {
		out = append(out, cellKey{m.Host, Versions})
	}
	return append(out, cellKey{Cluster, Unnamed}, cellKey{Cluster, Versions})
}

func age(now, then time.Time) float64 {
	if then.IsZero() {
		return math.Inf(1)
	}
	return max(0, now.Sub(then).Seconds())
}
