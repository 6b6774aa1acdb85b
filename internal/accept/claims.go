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

// Claims compares the claims of run.json with the observations of the run.
func Claims(b *evidence.Bundle) ([]evidence.Claim, []evidence.Contradiction, error) {
	v := verifier{b: b}
	dates, err := b.Dates()
	if err != nil {
		return nil, nil, fmt.Errorf("compare the dates of run %s: %w", b.Header.Run, err)
	}
	v.contradictions = dates
	if err := v.read(); err != nil {
		return nil, nil, fmt.Errorf("identify the cluster of run %s: %w", b.Header.Run, err)
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
	// observed are the identities of the cluster or machine, ids their observations.
	observed []identity
	ids      []string
	// lists are other observations of all nodes, by ID.
	lists          map[string][]corev1.Node
	claims         []evidence.Claim
	contradictions []evidence.Contradiction
}

func (v *verifier) contradict(field, format string, args ...any) {
	v.contradictions = append(v.contradictions, evidence.Contradiction{Field: field, Message: fmt.Sprintf(format, args...)})
}

// read reads every observation that identifies the cluster.
func (v *verifier) read() error {
	v.lists = map[string][]corev1.Node{}
	ids, err := v.b.Recorded()
	if err != nil {
		return err
	}
	kept := v.keptObservations()
	for _, id := range ids {
		obs, err := v.b.Observations([]string{id})
		if err != nil {
			return err
		}
		switch o := obs[0]; {
		case o.Check == IdentityCheck && slices.Contains([]string{identityKind, machineKind, slurmKind}, o.Kind):
			i, err := identityIn(o)
			if err != nil {
				return err
			}
			if o.Target != i.uid {
				v.contradict("cluster", "observation %s is of cluster %s, its output of %s", id, o.Target, i.uid)
			}
			v.observed, v.ids = append(v.observed, i), append(v.ids, id)
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
		return fmt.Errorf("cannot read observation %s: %w", o.ID, err)
	}
	v.lists[o.ID] = list.Items
	return nil
}

// keptObservations are those of kept verdicts: nodes may have been replaced since.
func (v *verifier) keptObservations() map[string]bool {
	out := map[string]bool{}
	for _, r := range slices.Concat(v.b.Results(), v.b.Abandoned()) {
		for _, id := range r.Observations {
			out[id] = out[id] || r.KeptFrom != ""
		}
	}
	return out
}

func (v *verifier) cluster() {
	claimed := v.b.Header.Cluster
	for n, i := range v.observed {
		if uid := i.uid; uid != claimed && (claimed != "" || v.b.Finished) {
			v.contradict("cluster", "run.json says %q, observation %s is of cluster %s", claimed, v.ids[n], uid)
		}
	}
	if claimed != "" && len(v.observed) == 0 {
		v.contradict("cluster", "run.json says %s, no observation shows it", claimed)
	}
	v.shown("cluster", claimed)
}

func (v *verifier) simulated() {
	h := v.b.Header
	if n := len(v.observed); n > 0 && (h.Cluster != "" || v.b.Finished) {
		// The newest: nodes may come and go before a run is resumed.
		id := v.observed[n-1]
		if id.simulated != h.Simulated {
			v.contradict("simulated", "run.json says %s, observation %s shows %s: %s", h.Simulated, v.ids[n-1], id.simulated, id.why)
		} else if id.why != h.SimulatedWhy {
			v.contradict("simulatedWhy", "run.json says %q, observation %s shows %q", h.SimulatedWhy, v.ids[n-1], id.why)
		}
	}
	if h.Simulated == evidence.HardwareReal && len(v.observed) == 0 {
		v.contradict("simulated", "run.json says false, no observation shows it")
	}
	for _, id := range slices.Sorted(maps.Keys(v.lists)) {
		if simulated, why := kube.SimulatedIn(v.lists[id]); simulated && h.Simulated == evidence.HardwareReal {
			v.contradict("simulated", "run.json says false, observation %s shows true: %s", id, why)
		}
	}
	v.shown("simulated", fmt.Sprint(h.Simulated))
}

// shown adds a claim about the cluster with its basis.
func (v *verifier) shown(field, value string) {
	if value == "" {
		return
	}
	c := evidence.Claim{Field: field, Value: value, Basis: evidence.Claimed}
	if len(v.observed) > 0 {
		c.Basis, c.By = evidence.Observed, strings.Join(v.ids, ", ")
	}
	v.claims = append(v.claims, c)
}

// kept checks that kept verdicts are of the same cluster.
func (v *verifier) kept() {
	for _, r := range v.b.Results() {
		if r.KeptFrom != "" && (r.KeptOf == "" || r.KeptOf != v.b.Header.Cluster) && (v.b.Header.Cluster != "" || v.b.Finished) {
			v.contradict("cluster", "the verdict of %s is kept from run %s of cluster %q, this run is of cluster %q", r.Step, r.KeptFrom, r.KeptOf, v.b.Header.Cluster)
		}
	}
}

// rest adds the claims that no observation supports.
func (v *verifier) rest() {
	h := v.b.Header
	add := func(field, value string) {
		if value != "" {
			v.claims = append(v.claims, evidence.Claim{Field: field, Value: value, Basis: evidence.Claimed})
		}
	}
	add("tool", h.Tool)
	add("earlierTools", strings.Join(h.EarlierTools, ", "))
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
