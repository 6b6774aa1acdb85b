package accept

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	k8stesting "k8s.io/client-go/testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/localhost"
)

// Verdicts are kept only on the same cluster or machine, with hardware of the same kind. An
// unknown cluster is another one.
func TestDifferencesOfIdentities(t *testing.T) {
	t.Parallel()
	one := identity{uid: "one", simulated: evidence.HardwareReal}
	machine := func(id string) identity { return ofMachine(localhost.Machine{ID: id}) }
	for name, tt := range map[string]struct {
		then, now identity
		want      string // empty: none
	}{
		"the same cluster":           {one, one, ""},
		"another cluster":            {one, identity{uid: "two", simulated: evidence.HardwareReal}, "cluster: one then, two now"},
		"a cluster, then unknown":    {one, identity{unknown: errors.New("no route")}, "cannot identify the cluster: no route"},
		"unknown, then a cluster":    {identity{}, one, "unknown cluster"},
		"unknown, then unknown":      {identity{}, identity{}, "unknown cluster"},
		"real, then simulated":       {one, identity{uid: "one", simulated: evidence.HardwareSimulated}, "real hardware then, simulated hardware now"},
		"simulated, then real":       {identity{uid: "one", simulated: evidence.HardwareSimulated}, one, "simulated hardware then, real hardware now"},
		"real, then without nodes":   {one, identity{uid: "one", simulated: evidence.HardwareUnknown}, "real hardware then, unknown hardware now"},
		"the same machine":           {machine("a"), machine("a"), ""},
		"another machine":            {machine("a"), machine("b"), "machine: machine-a then, machine-b now (hash of /etc/machine-id)"},
		"a machine, then a cluster":  {machine("a"), one, "cluster: machine-a then, one now"},
		"a cluster, then a machine":  {one, machine("a"), "cluster: one then, machine-a now"},
		"a machine, then unknown":    {machine("a"), identity{unknown: errNoCluster}, "cannot identify the cluster: the site has no cluster"},
		"a cluster of the same name": {machine("a"), identity{uid: "a"}, "cluster: machine-a then, a now"},
	} {
		got := tt.then.differences(tt.now)
		if (tt.want == "") != (len(got) == 0) || !strings.Contains(strings.Join(got, "; "), tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// A host with another SSH host key is another host, and so is one whose key is no longer known. One
// that never had a known key is known by its name.
func TestDifferentHosts(t *testing.T) {
	t.Parallel()
	type hosts = map[string]string
	for want, tt := range map[string]struct{ then, now hosts }{
		"":                                       {hosts{"a": "1"}, hosts{"a": "1"}},
		"SSH host key of a: 1 then, 2 now":       {hosts{"a": "1"}, hosts{"a": "2"}},
		"SSH host key of a: 1 then, nothing now": {hosts{"a": "1"}, nil},
		"SSH host key of a: nothing then, 1 now": {nil, hosts{"a": "1"}},
		"SSH host key of a: 1 then, 2 now; SSH host key of b: nothing then, 3 now": {hosts{"a": "1"}, hosts{"b": "3", "a": "2"}},
	} {
		if got := strings.Join(differentHosts(tt.then, tt.now), "; "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := differentHosts(nil, nil); len(got) > 0 {
		t.Errorf("no host has a known key: %q", got)
	}
}

// A cluster is known by the UID of kube-system; without it, or without its nodes, it is unknown.
func TestTheIdentityOfACluster(t *testing.T) {
	t.Parallel()
	system := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: metav1.NamespaceSystem, UID: "one"}}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "gpu-01"}}
	kwok := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "gpu-02", Annotations: map[string]string{"kwok.x-k8s.io/node": "fake"}}}
	for name, tt := range map[string]struct {
		objects   []runtime.Object
		fails     string // a resource that cannot be read
		uid       string
		simulated evidence.Hardware
		says      string
	}{
		"real":              {[]runtime.Object{system, node}, "", "one", evidence.HardwareReal, ""},
		"a simulated node":  {[]runtime.Object{system, node, kwok}, "", "one", evidence.HardwareSimulated, ""},
		"no node":           {[]runtime.Object{system}, "", "one", evidence.HardwareUnknown, ""},
		"no UID":            {[]runtime.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: metav1.NamespaceSystem}}, node}, "", "", evidence.HardwareUnknown, "has no UID"},
		"no namespace":      {[]runtime.Object{node}, "", "", evidence.HardwareUnknown, "get namespace kube-system"},
		"unreadable nodes":  {[]runtime.Object{system, node}, "nodes", "", evidence.HardwareUnknown, "list nodes"},
		"unreadable system": {[]runtime.Object{system, node}, "namespaces", "", evidence.HardwareUnknown, "get namespace kube-system"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := fake.NewClientset(tt.objects...)
			client.PrependReactor("*", "*", func(a k8stesting.Action) (bool, runtime.Object, error) {
				return a.GetResource().Resource == tt.fails, nil, errors.New("refused")
			})
			x := &execution{opts: Options{Cluster: func(context.Context) (*kube.Cluster, error) { return &kube.Cluster{Client: client}, nil }}}
			got := x.thisCluster(t.Context())
			if got.uid != tt.uid || got.simulated != tt.simulated || (got.unknown == nil) != (tt.says == "") || tt.says != "" && !strings.Contains(got.unknown.Error(), tt.says) {
				t.Errorf("%+v", got)
			}
			uid, simulated, err := Identify(t.Context(), &kube.Cluster{Client: client})
			if uid != tt.uid || simulated != tt.simulated || (err == nil) != (tt.says == "") {
				t.Errorf("%q, %q, %v", uid, simulated, err)
			}
			if tt.says != "" {
				return
			}
			observed, err := observeIdentity(t.Context(), &kube.Cluster{Client: client})
			if err != nil {
				t.Fatal(err)
			}
			o, err := observed.Observation(day)
			if err != nil || o.Target != tt.uid || o.Check != IdentityCheck || o.Kind != identityKind || !o.At.Equal(day) {
				t.Errorf("%+v, %v", o, err)
			}
			if again, err := identityIn(o); err != nil || again != got {
				t.Errorf("the observation shows %+v, %v, want %+v", again, err, got)
			}
		})
	}
	unreached := &execution{opts: Options{Cluster: unreachable}}
	if got := unreached.thisCluster(t.Context()); got.unknown == nil || got.uid != "" {
		t.Errorf("%+v", got)
	}
}

// Without a cluster a run is of the machine: it is recorded, and the header names it.
func TestARunWithoutAClusterIsOfItsMachine(t *testing.T) {
	t.Parallel()
	box := localhost.Machine{ID: "0123", Name: "box", Vendor: "Supermicro"}
	for name, tt := range map[string]struct {
		machine  func() (localhost.Machine, error)
		uid      string
		observed int
		note     string
	}{
		"identified":     {func() (localhost.Machine, error) { return box, nil }, "machine-0123", 1, ""},
		"not identified": {func() (localhost.Machine, error) { return box, errors.New("no machine ID") }, "", 0, "cannot identify the machine: no machine ID"},
		"not asked":      {nil, "", 0, "cannot identify the machine: the site has no cluster"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(t, t.TempDir(), planOf("a"))
			o.Cluster, o.Machine, o.Keep = nil, tt.machine, false
			var notes []string
			o.Note = func(text string) { notes = append(notes, text) }
			x := &execution{opts: o}
			if id := x.thisCluster(t.Context()); id.uid != tt.uid || (id.unknown == nil) != (tt.note == "") || id.simulated != evidence.HardwareUnknown {
				t.Errorf("the machine is %+v", id)
			}
			r, err := Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			b, err := evidence.Load(r.Evidence)
			if err != nil {
				t.Fatal(err)
			}
			if b.Header.Cluster != tt.uid || b.Header.Simulated != evidence.HardwareUnknown || strings.Join(notes, "\n") != tt.note {
				t.Errorf("cluster %q, notes %q", b.Header.Cluster, notes)
			}
			identified := 0
			ids, err := b.Recorded()
			if err != nil {
				t.Fatal(err)
			}
			obs, err := b.Observations(ids)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range obs {
				if o.Check != IdentityCheck {
					continue
				}
				identified++
				var raw localhost.Machine
				if err := json.Unmarshal(o.Raw, &raw); err != nil || cmp.Diff(box, raw) != "" || o.Kind != machineKind || o.Target != tt.uid || o.Origin != localhost.Origin {
					t.Errorf("%+v: %v", o, err)
				}
				if id, err := identityIn(o); err != nil || id != ofMachine(box) {
					t.Errorf("%+v, %v", id, err)
				}
			}
			if identified != tt.observed {
				t.Errorf("%d observations of the machine, want %d", identified, tt.observed)
			}
			if _, contradictions, err := Claims(b); err != nil || len(contradictions) > 0 {
				t.Errorf("%v, %v", contradictions, err)
			}
		})
	}
}

// An unfinished run is resumed on its machine, and on no other one.
func TestARunIsResumedOnItsMachineOnly(t *testing.T) {
	t.Parallel()
	for id, resumed := range map[string]bool{"0123": true, "4567": false} {
		dir := t.TempDir()
		o := options(t, dir, planOf("a"))
		p, err := o.Playbook(PlanContext{})
		if err != nil {
			t.Fatal(err)
		}
		run, err := evidence.Create(dir, evidence.Start{
			Header: evidence.Header{Site: o.Site.Name, Profile: o.Profile.Name, Cluster: "machine-0123"}, Plan: p, Site: o.SiteFile, Profile: o.ProfileFile,
		}, evidence.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := run.Close(); err != nil {
			t.Fatal(err)
		}
		o.Cluster, o.Machine = nil, func() (localhost.Machine, error) { return localhost.Machine{ID: id}, nil }
		r, err := Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if got := filepath.Base(r.Evidence) == run.ID(); got != resumed {
			t.Errorf("machine %s: resumed %t, want %t: %q", id, got, resumed, r.Notes)
		}
	}
}

// An observation of an identity that cannot be read is an error.
func TestAnIdentityThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{identityKind, machineKind} {
		if id, err := identityIn(check.Observation{ID: "1", Kind: kind, Raw: []byte("{")}); err == nil || id.uid != "" {
			t.Errorf("%s: %+v", kind, id)
		}
	}
}
