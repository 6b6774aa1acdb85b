package accept

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/gate/gpustack"
	"github.com/firstlight/firstlight/internal/plan"
)

// nodesOf are nodes; those whose name begins with kwok are simulated.
func nodesOf(names ...string) []corev1.Node {
	var out []corev1.Node
	for _, name := range names {
		n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if strings.HasPrefix(name, "kwok") {
			n.Annotations = map[string]string{"kwok.x-k8s.io/node": "fake"}
		}
		out = append(out, n)
	}
	return out
}

// identifies is the observation of a cluster with these nodes.
func identifies(t *testing.T, uid string, nodes ...string) check.Observation {
	t.Helper()
	id := Identity{Nodes: nodesOf(nodes...)}
	id.Namespace.UID = types.UID(uid)
	o, err := id.Observation(day)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// lists is the observation of all nodes by the gate of the GPU stack.
func lists(t *testing.T, nodes ...string) check.Observation {
	t.Helper()
	raw, err := json.Marshal(corev1.NodeList{Items: nodesOf(nodes...)})
	if err != nil {
		t.Fatal(err)
	}
	return check.Observation{Check: gpustack.Name, Kind: gpustack.KindNodes, Target: "nodes", At: day, Raw: raw}
}

// observedRun is a finished run of cluster "one" with real hardware, with these observations.
func observedRun(t *testing.T, obs ...check.Observation) *evidence.Bundle {
	t.Helper()
	run, err := evidence.Create(t.TempDir(), evidence.Start{
		Header: evidence.Header{Cluster: "one", Simulated: evidence.HardwareReal, SimulatedWhy: "none of 1 nodes carries the annotation kwok.x-k8s.io/node"},
		Plan:   plan.Plan{Name: "x", Steps: []plan.Step{{Check: look(gpustack.Name)}}}, Site: []byte("{}"), Profile: []byte("{}"),
	}, evidence.Options{Clock: at(day)})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range obs {
		if _, err := run.Record(1, o); err != nil {
			t.Fatal(err)
		}
	}
	if err := run.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := evidence.Load(run.Dir())
	if err != nil {
		t.Fatal(err)
	}
	b.Finished = true
	return b
}

// keep adds a kept verdict of the gate of the GPU stack, with these observations.
func keep(b *evidence.Bundle, of string, ids ...string) {
	r := plan.Result{Step: gpustack.Name, At: day, Started: day, Finished: day, KeptFrom: "earlier", KeptOf: of, Observations: ids}
	b.Entries = append(b.Entries, evidence.Entry{Seq: len(b.Entries) + 1, At: day, Type: evidence.EntryKept, Step: r.Step, Result: &r})
}

// Each observation of another cluster, or of other hardware, contradicts run.json, and so does a run
// without such an observation. Only observations of the run itself count.
func TestClaimsOfTheCluster(t *testing.T) {
	t.Parallel()
	const noneReal = "simulated: run.json says false, no observation shows it"
	list := "0002-" + gpustack.Name + "-" + gpustack.KindNodes + "-nodes"
	one := identifies(t, "one", "gpu-01")
	forged := one
	forged.Target = "two"
	unread := lists(t, "kwok-1")
	unread.Err = "refused"
	foreign, otherKind := lists(t, "kwok-1"), lists(t, "kwok-1")
	foreign.Check, otherKind.Kind = "inference", "pods"
	notIdentity, notKind := identifies(t, "two", "gpu-01"), identifies(t, "two", "gpu-01")
	notIdentity.Check, notKind.Kind = "inference", "pods"
	for name, tt := range map[string]struct {
		obs     []check.Observation
		changes func(b *evidence.Bundle)
		want    []string
	}{
		"as observed": {[]check.Observation{one, lists(t, "gpu-01")}, nil, nil},
		"another cluster": {[]check.Observation{identifies(t, "two", "gpu-01")}, nil,
			[]string{`cluster: run.json says "one", observation 0001-identity-cluster-two is of cluster two`}},
		"one of two observations is of another cluster": {[]check.Observation{identifies(t, "two", "gpu-01"), one}, nil,
			[]string{`cluster: run.json says "one", observation 0001-identity-cluster-two is of cluster two`}},
		"an observation with another target than output": {[]check.Observation{forged}, nil,
			[]string{"cluster: observation 0001-identity-cluster-two is of cluster two, its output of one"}},
		"no observation": {nil, nil, []string{"cluster: run.json says one, no observation shows it", noneReal}},
		"no observation, nothing claimed": {nil, func(b *evidence.Bundle) {
			b.Header.Cluster, b.Header.Simulated = "", evidence.HardwareUnknown
		}, nil},
		"no cluster claimed, finished": {[]check.Observation{one}, func(b *evidence.Bundle) { b.Header.Cluster = "" },
			[]string{`cluster: run.json says "", observation 0001-identity-cluster-one is of cluster one`}},
		"no cluster claimed, finished, simulated nodes": {[]check.Observation{identifies(t, "one", "kwok-1")}, func(b *evidence.Bundle) { b.Header.Cluster = "" }, []string{
			`cluster: run.json says "", observation 0001-identity-cluster-one is of cluster one`,
			"simulated: run.json says false, observation 0001-identity-cluster-one shows true: 1 of 1 nodes carry the annotation kwok.x-k8s.io/node (kwok-1)"}},
		"another cluster after a list of nodes": {[]check.Observation{one, lists(t, "gpu-01"), identifies(t, "two", "gpu-01")}, nil,
			[]string{`cluster: run.json says "one", observation 0003-identity-cluster-two is of cluster two`}},
		"not yet claimed": {[]check.Observation{one}, func(b *evidence.Bundle) {
			b.Header.Cluster, b.Header.Simulated, b.Finished = "", evidence.HardwareUnknown, false
		}, nil},
		"claimed before the end": {[]check.Observation{identifies(t, "two", "kwok-1")}, func(b *evidence.Bundle) { b.Finished = false }, []string{
			`cluster: run.json says "one", observation 0001-identity-cluster-two is of cluster two`,
			"simulated: run.json says false, observation 0001-identity-cluster-two shows true: 1 of 1 nodes carry the annotation kwok.x-k8s.io/node (kwok-1)"}},
		"simulated nodes": {[]check.Observation{identifies(t, "one", "kwok-1")}, nil,
			[]string{"simulated: run.json says false, observation 0001-identity-cluster-one shows true: 1 of 1 nodes carry the annotation kwok.x-k8s.io/node (kwok-1)"}},
		"simulated nodes when it was resumed": {[]check.Observation{one, identifies(t, "one", "kwok-1")}, nil,
			[]string{"simulated: run.json says false, observation 0002-identity-cluster-one shows true: 1 of 1 nodes carry the annotation kwok.x-k8s.io/node (kwok-1)"}},
		"other nodes before it was resumed": {[]check.Observation{identifies(t, "one", "kwok-1"), one}, nil, nil},
		"another reason": {[]check.Observation{identifies(t, "one", "gpu-01", "gpu-02")}, nil, []string{
			`simulatedWhy: run.json says "none of 1 nodes carries the annotation kwok.x-k8s.io/node", observation 0001-identity-cluster-one shows "none of 2 nodes carries the annotation kwok.x-k8s.io/node"`}},
		"simulated nodes in a list of nodes": {[]check.Observation{one, lists(t, "gpu-01", "kwok-1")}, nil,
			[]string{"simulated: run.json says false, observation " + list + " shows true: 1 of 2 nodes carry the annotation kwok.x-k8s.io/node (kwok-1)"}},
		"simulated nodes that are claimed": {[]check.Observation{identifies(t, "one", "kwok-1"), lists(t, "kwok-1")}, func(b *evidence.Bundle) {
			b.Header.Simulated, b.Header.SimulatedWhy = evidence.HardwareSimulated, "1 of 1 nodes carry the annotation kwok.x-k8s.io/node (kwok-1)"
		}, nil},
		"a list of nodes of a kept verdict": {[]check.Observation{one, lists(t, "kwok-1")}, func(b *evidence.Bundle) { keep(b, "one", list) }, nil},
		"a list of nodes of a verdict of the run": {[]check.Observation{one, lists(t, "kwok-1")}, func(b *evidence.Bundle) {
			keep(b, "one", list)
			of := b.Entries[len(b.Entries)-1].Result
			of.KeptFrom, of.KeptOf = "", ""
		}, []string{"simulated: run.json says false, observation " + list + " shows true: 1 of 1 nodes carry the annotation kwok.x-k8s.io/node (kwok-1)"}},
		"lists of nodes that were not read, and of others": {[]check.Observation{one, unread, foreign, otherKind}, nil, nil},
		"observations that do not identify":                {[]check.Observation{one, notIdentity, notKind}, nil, nil},
		"a verdict of this cluster is kept":                {[]check.Observation{one}, func(b *evidence.Bundle) { keep(b, "one") }, nil},
		"a verdict of another cluster is kept": {[]check.Observation{one}, func(b *evidence.Bundle) { keep(b, "two") },
			[]string{`cluster: the verdict of ` + gpustack.Name + ` is kept from run earlier of cluster "two", this run is of cluster "one"`}},
		"a verdict of another cluster is kept in an unfinished run": {[]check.Observation{one}, func(b *evidence.Bundle) {
			keep(b, "two")
			b.Finished = false
		}, []string{`cluster: the verdict of ` + gpustack.Name + ` is kept from run earlier of cluster "two", this run is of cluster "one"`}},
		"a verdict is kept before the cluster answered": {nil, func(b *evidence.Bundle) {
			keep(b, "two")
			b.Header.Cluster, b.Header.Simulated, b.Finished = "", evidence.HardwareUnknown, false
		}, nil},
		"a verdict of an unknown cluster is kept by a run of none": {nil, func(b *evidence.Bundle) {
			keep(b, "")
			b.Header.Cluster, b.Header.Simulated = "", evidence.HardwareUnknown
		}, []string{`cluster: the verdict of ` + gpustack.Name + ` is kept from run earlier of cluster "", this run is of cluster ""`}},
		"a date": {[]check.Observation{one}, func(b *evidence.Bundle) { b.Header.Created = day.AddDate(0, 0, 1) },
			[]string{"created: run.json has 2026-11-23T03:04:05Z, the run ID is ", "created: run.json has 2026-11-23T03:04:05Z, the journal starts with created at 2026-11-22T03:04:05Z"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := observedRun(t, tt.obs...)
			if tt.changes != nil {
				tt.changes(b)
			}
			_, found, err := Claims(b)
			if err != nil {
				t.Fatal(err)
			}
			if len(found) != len(tt.want) {
				t.Errorf("%d contradictions, want %d: %v", len(found), len(tt.want), found)
			}
			for _, want := range tt.want {
				if !slices.ContainsFunc(found, func(c evidence.Contradiction) bool { return strings.HasPrefix(c.String(), want) }) {
					t.Errorf("no contradiction %q: %v", want, found)
				}
			}
		})
	}
}

// Each statement of run.json has its basis: a statement without an observation is claimed. An empty
// statement is left out.
func TestTheBasisOfClaims(t *testing.T) {
	t.Parallel()
	seed := uint64(7)
	const clock = "run ID, journal and observations agree; that the clock was right is claimed"
	dates := evidence.Claim{Field: "dates", Value: "2026-11-22", Basis: evidence.Observed, By: clock}
	claimed := func(field, value string) evidence.Claim {
		return evidence.Claim{Field: field, Value: value, Basis: evidence.Claimed}
	}
	ids := "0001-identity-cluster-one, 0002-identity-cluster-one"
	one := identifies(t, "one", "gpu-01")
	for name, tt := range map[string]struct {
		obs     []check.Observation
		changes func(b *evidence.Bundle)
		want    []evidence.Claim
	}{
		"observed": {[]check.Observation{one, one}, func(*evidence.Bundle) {}, []evidence.Claim{
			{Field: "cluster", Value: "one", Basis: evidence.Observed, By: ids}, {Field: "simulated", Value: "false", Basis: evidence.Observed, By: ids}, dates,
		}},
		"observed once": {[]check.Observation{one}, func(b *evidence.Bundle) { b.Header.Simulated = evidence.HardwareUnknown }, []evidence.Claim{
			{Field: "cluster", Value: "one", Basis: evidence.Observed, By: "0001-identity-cluster-one"}, {Field: "simulated", Value: "not identified", Basis: evidence.Observed, By: "0001-identity-cluster-one"}, dates,
		}},
		"not observed": {nil, func(*evidence.Bundle) {}, []evidence.Claim{claimed("cluster", "one"), claimed("simulated", "false"), dates}},
		"everything claimed": {nil, func(b *evidence.Bundle) {
			b.Header.Cluster, b.Header.Tool, b.Header.Command, b.Header.Recipe, b.Header.Seed = "", "v1", []string{"firstlight", "accept"}, "h100", &seed
			b.Header.Versions, b.Header.Digests, b.Header.Hosts = map[string]string{"a": "1"}, map[string]string{"a": "1", "b": "2"}, map[string]string{"c": "3"}
		}, []evidence.Claim{
			claimed("simulated", "false"), dates, claimed("tool", "v1"), claimed("command", "firstlight accept"), claimed("recipe", "h100"), claimed("seed", "7"),
			claimed("versions", "of 1"), claimed("digests", "of 2"), claimed("hosts", "of 1"),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := observedRun(t, tt.obs...)
			tt.changes(b)
			got, _, err := Claims(b)
			if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
				t.Errorf("%v\n%s", err, diff)
			}
		})
	}
}

// A run with an observation that cannot be read has no claims.
func TestClaimsThatCannotBeChecked(t *testing.T) {
	t.Parallel()
	identity, list := identifies(t, "one", "gpu-01"), lists(t, "gpu-01")
	identity.Raw, list.Raw = []byte("{"), []byte("{")
	for says, o := range map[string]check.Observation{"0001-identity-cluster-one": identity, gpustack.KindNodes: list} {
		claims, _, err := Claims(observedRun(t, o))
		if err == nil || !strings.Contains(err.Error(), says) || len(claims) > 0 {
			t.Errorf("%s: %v, %v", says, claims, err)
		}
	}
	lost := observedRun(t)
	keep(lost, "one", "0009-a-b-c")
	if claims, _, err := Claims(lost); err == nil || len(claims) > 0 {
		t.Errorf("a lost observation: %v, %v", claims, err)
	}
	lost = observedRun(t)
	lost.Dir += "-moved"
	if claims, _, err := Claims(lost); err == nil || len(claims) > 0 {
		t.Errorf("a lost run: %v, %v", claims, err)
	}
	lost = observedRun(t, identifies(t, "one", "gpu-01"))
	if err := os.Remove(filepath.Join(lost.Dir, "observations", "0001-identity-cluster-one.raw")); err != nil {
		t.Fatal(err)
	}
	if claims, _, err := Claims(lost); err == nil || len(claims) > 0 {
		t.Errorf("a lost output: %v, %v", claims, err)
	}
}
