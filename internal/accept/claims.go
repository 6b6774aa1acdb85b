package accept

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/gate/gpustack"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// Claims holds what a run's run.json says against what the run observed.
func Claims(b *evidence.Bundle) ([]evidence.Claim, []evidence.Contradiction, error) {
	v := verifier{b: b}
	dates, err := b.Dates()
	if err != nil {
		return nil, nil, fmt.Errorf("hold the dates of run %s against each other: %w", b.Header.Run, err)
	}
	v.contradictions = dates
	if err := v.read(); err != nil {
		return nil, nil, fmt.Errorf("see which cluster run %s observed: %w", b.Header.Run, err)
	}
	v.cluster()
	v.simulated()
	v.kept()
	v.claims = append(v.claims, evidence.Claim{Field: "dates", Value: b.Header.Created.UTC().Format("2006-01-02"), Basis: evidence.Observed, By: "run ID, journal and observations agree; that the clock was right is claimed"})
	v.rest()
	return v.claims, v.contradictions, nil
}

type verifier struct {
	b *evidence.Bundle
	// seen are the identities that were observed, with the IDs of the observations.
	seen []Identity
	ids  []string
	// lists are other observations of all nodes, by ID.
	lists          map[string][]corev1.Node
	claims         []evidence.Claim
	contradictions []evidence.Contradiction
}

func (v *verifier) contradict(field, format string, args ...any) {
	v.contradictions = append(v.contradictions, evidence.Contradiction{Field: field, Message: fmt.Sprintf(format, args...)})
}

// read finds every observation that shows which cluster it was.
func (v *verifier) read() error {
	v.lists = map[string][]corev1.Node{}
	ids, err := v.b.Recorded()
	if err != nil {
		return err //nolint:wrapcheck // says what it was doing
	}
	kept := v.keptObservations()
	for _, id := range ids {
		obs, err := v.b.Observations([]string{id})
		if err != nil {
			return err //nolint:wrapcheck // says which
		}
		switch o := obs[0]; {
		case o.Check == IdentityCheck && o.Kind == identityKind:
			i, err := identityIn(o)
			if err != nil {
				return err
			}
			if o.Target != string(i.Namespace.UID) {
				v.contradict("cluster", "observation %s is of cluster %s, its output of %s", id, o.Target, i.Namespace.UID)
			}
			v.seen, v.ids = append(v.seen, i), append(v.ids, id)
		case o.Check == gpustack.Name && o.Kind == gpustack.KindNodes && o.Err == "" && !kept[id]:
			if err := v.list(o); err != nil {
				return err
			}
		}
	}
	return nil
}

func (v *verifier) list(o check.Observation) error {
	var list corev1.NodeList
	if err := json.Unmarshal(o.Raw, &list); err != nil {
		return fmt.Errorf("read observation %s: %w", o.ID, err)
	}
	v.lists[o.ID] = list.Items
	return nil
}

// keptObservations are those of kept verdicts: nodes may have been replaced since.
func (v *verifier) keptObservations() map[string]bool {
	out := map[string]bool{}
	for _, r := range v.b.Results() {
		for _, id := range r.Observations {
			out[id] = out[id] || r.KeptFrom != ""
		}
	}
	return out
}

func (v *verifier) cluster() {
	said := v.b.Header.Cluster
	for n, i := range v.seen {
		if uid := string(i.Namespace.UID); uid != said && (said != "" || v.b.Finished) {
			v.contradict("cluster", "run.json says %q, observation %s is of cluster %s", said, v.ids[n], uid)
		}
	}
	if said != "" && len(v.seen) == 0 {
		v.contradict("cluster", "run.json says %s, no observation shows it", said)
	}
	v.shown("cluster", said)
}

func (v *verifier) simulated() {
	h := v.b.Header
	if n := len(v.seen); n > 0 && (h.Cluster != "" || v.b.Finished) {
		// The newest: nodes may come and go before a run is resumed.
		is := v.seen[n-1].identity()
		if is.simulated != h.Simulated {
			v.contradict("simulated", "run.json says %t, observation %s shows %t: %s", h.Simulated, v.ids[n-1], is.simulated, is.why)
		} else if is.why != h.SimulatedWhy {
			v.contradict("simulatedWhy", "run.json says %q, observation %s shows %q", h.SimulatedWhy, v.ids[n-1], is.why)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(v.lists)) {
		if simulated, why := kube.SimulatedIn(v.lists[id]); simulated && !h.Simulated {
			v.contradict("simulated", "run.json says false, observation %s shows true: %s", id, why)
		}
	}
	v.shown("simulated", fmt.Sprint(h.Simulated))
}

// shown says what a field of the cluster rests on.
func (v *verifier) shown(field, value string) {
	if value == "" {
		return
	}
	c := evidence.Claim{Field: field, Value: value, Basis: evidence.Claimed}
	if len(v.seen) > 0 {
		c.Basis, c.By = evidence.Observed, strings.Join(v.ids, ", ")
	}
	v.claims = append(v.claims, c)
}

// kept verdicts are of the same cluster.
func (v *verifier) kept() {
	for _, r := range v.b.Results() {
		if r.KeptFrom != "" && (r.KeptOf == "" || r.KeptOf != v.b.Header.Cluster) && (v.b.Header.Cluster != "" || v.b.Finished) {
			v.contradict("cluster", "the verdict of %s is kept from run %s of cluster %q, this run is of cluster %q", r.Step, r.KeptFrom, r.KeptOf, v.b.Header.Cluster)
		}
	}
}

// rest is what nothing in the run shows.
func (v *verifier) rest() {
	h := v.b.Header
	add := func(field, value string) {
		if value != "" {
			v.claims = append(v.claims, evidence.Claim{Field: field, Value: value, Basis: evidence.Claimed})
		}
	}
	add("tool", h.Tool)
	add("command", strings.Join(h.Command, " "))
	add("recipe", h.Recipe)
	if h.Seed != nil {
		add("seed", fmt.Sprint(*h.Seed))
	}
	for _, m := range []struct {
		field  string
		values map[string]string
	}{{"versions", h.Versions}, {"digests", h.Digests}, {"hosts", h.Hosts}} {
		if len(m.values) > 0 {
			add(m.field, fmt.Sprintf("of %d", len(m.values)))
		}
	}
}
