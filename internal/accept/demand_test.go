package accept

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// clusterOf is a cluster with that UID of kube-system.
func clusterOf(uid string, simulated bool) Reach {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "gpu-01"}}
	if simulated {
		n.Annotations = map[string]string{"kwok.x-k8s.io/node": "fake"}
	}
	system := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: metav1.NamespaceSystem, UID: types.UID(uid)}}
	c := &kube.Cluster{Client: fake.NewClientset(system, n), Dynamic: noObjects{}}
	return func(context.Context) (*kube.Cluster, error) { return c, nil }
}

// noObjects is a cluster without objects of custom kinds.
type noObjects struct {
	dynamic.NamespaceableResourceInterface
}

func (n noObjects) Resource(schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	return n
}

func (n noObjects) Namespace(string) dynamic.ResourceInterface { return n }

func (noObjects) List(context.Context, metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	return nil, apierrors.NewNotFound(schema.GroupResource{}, "x")
}

var day = time.Date(2026, 11, 22, 3, 4, 5, 0, time.UTC)

func at(t time.Time) func() time.Time { return func() time.Time { return t } }

// loosened is a profile of the same name that asks for a hundredth of the bandwidth.
func loosened(t *testing.T, o *Options) {
	t.Helper()
	loose := bytes.ReplaceAll(o.ProfileFile, []byte("minFraction: {value: 0.92"), []byte("minFraction: {value: 0.01"))
	if bytes.Equal(loose, o.ProfileFile) {
		t.Fatal("the profile has another minFraction")
	}
	p, err := profile.Parse("loose", loose)
	if err != nil {
		t.Fatal(err)
	}
	o.Profile, o.ProfileFile = p, loose
}

// resited is the same site with other text in its file.
func resited(t *testing.T, o *Options, old, text string) {
	t.Helper()
	data := bytes.Replace(o.SiteFile, []byte(old), []byte(text), 1)
	if bytes.Equal(data, o.SiteFile) {
		t.Fatalf("the site has no %q", old)
	}
	s, err := site.Parse("site", data)
	if err != nil {
		t.Fatal(err)
	}
	o.Site, o.SiteFile = s, data
}

// withSecrets has secrets in plain scalars.
const withSecrets = "driver: 570\nurl: https://u:hunter2@registry.example.com\nargs:\n- --token=hunter2\n"

// changes are what may lie between a run and the next one; names is the difference that
// is named, empty where verdicts are kept.
var changes = map[string]struct {
	then, now func(t *testing.T, o *Options)
	names     string
}{
	"nothing":                       {},
	"a looser profile of that name": {then: loosened, names: "profile collective.minFraction.value: 0.01 then, 0.92 now"},
	"another cluster":               {now: func(_ *testing.T, o *Options) { o.Cluster = clusterOf("another", false) }, names: "cluster: one then, another now"},
	"simulated nodes then":          {then: func(_ *testing.T, o *Options) { o.Cluster = clusterOf("one", true) }, names: "simulated hardware then, real hardware now"},
	"no cluster that answers": {
		now:   func(_ *testing.T, o *Options) { o.Cluster = unreachable },
		names: "cannot identify the cluster: no route",
	},
	"a cluster that never answered then": {
		then:  func(_ *testing.T, o *Options) { o.Cluster = unreachable },
		names: "unknown cluster",
	},
	"another recipe": {
		then:  func(_ *testing.T, o *Options) { o.Recipe, o.RecipeFile = "A", []byte("driver: 570\n") },
		now:   func(_ *testing.T, o *Options) { o.Recipe, o.RecipeFile = "A", []byte("driver: 580\n") },
		names: "recipe driver: 570 then, 580 now",
	},
	// Regression: the run has the recipe with quotes around the redacted values, which was compared with one without quotes.
	"a recipe with secrets": {
		then: func(_ *testing.T, o *Options) { o.Recipe, o.RecipeFile = "A", []byte(withSecrets) },
		now:  func(_ *testing.T, o *Options) { o.Recipe, o.RecipeFile = "A", []byte(withSecrets) },
	},
	"another recipe with secrets": {
		then: func(_ *testing.T, o *Options) { o.Recipe, o.RecipeFile = "A", []byte(withSecrets) },
		now: func(_ *testing.T, o *Options) {
			o.Recipe, o.RecipeFile = "A", []byte(strings.Replace(withSecrets, "570", "580", 1))
		},
		names: "recipe driver: 570 then, 580 now",
	},
	"an input with secrets": {
		then: func(_ *testing.T, o *Options) { o.Inputs = map[string][]byte{"drift.yaml": []byte(withSecrets)} },
		now:  func(_ *testing.T, o *Options) { o.Inputs = map[string][]byte{"drift.yaml": []byte(withSecrets)} },
	},
	"another input": {
		then: func(_ *testing.T, o *Options) {
			o.Inputs = map[string][]byte{"validation.json": []byte(`{"version":"1.35"}`)}
		},
		now: func(_ *testing.T, o *Options) {
			o.Inputs = map[string][]byte{"validation.json": []byte(`{"version":"1.36"}`)}
		},
		names: `validation.json version: "1.35" then, "1.36" now`,
	},
	"an input that did not exist": {
		now: func(_ *testing.T, o *Options) {
			o.Inputs = map[string][]byte{"validation.json": []byte(`{"version":"1.36"}`)}
		},
		names: `validation.json version: nothing then, "1.36" now`,
	},
	"less power": {now: func(t *testing.T, o *Options) {
		t.Helper()
		resited(t, o, "power: {provided: 60 kW", "power: {provided: 1 kW")
	}, names: `site facility.power.provided`},
	"a lower floor": {then: func(t *testing.T, o *Options) { t.Helper(); resited(t, o, "soak: 10m", "soak: 1m") }, names: `site fabric.soak: "1m0s" then, "10m0s" now`},
	"no sign-off": {
		now: func(_ *testing.T, o *Options) {
			s := *o.Site
			s.Facility.SignOff = site.SignOff{}
			o.Site = &s
		},
		names: "facility is not signed off",
	},
	"a sign-off that has ended": {
		now: func(_ *testing.T, o *Options) {
			s := *o.Site
			s.Facility.SignOff.Expires = "2026-11-22T04:04:05Z"
			o.Site = &s
		},
		names: "sign-off expired",
	},
	"a sign-off that was renewed": {
		now: func(_ *testing.T, o *Options) {
			s := *o.Site
			s.Facility.SignOff.Reference, s.Facility.SignOff.Expires = "renewed", "2030-01-01"
			o.Site = &s
		},
	},
	"an age beyond the limit": {now: func(_ *testing.T, o *Options) { o.Clock = at(day.Add(8 * 24 * time.Hour)) }, names: "facility is of 2026-11-22T03:04:05Z, 192h0m0s ago"},
	"a date in the future":    {now: func(_ *testing.T, o *Options) { o.Clock = at(day.Add(-time.Hour)) }, names: "in the future"},
	"another machine behind a host": {
		then: func(_ *testing.T, o *Options) {
			o.Hosts = map[string]string{"gpu-01": "SHA256:a", "gpu-02": "SHA256:b"}
		},
		now: func(_ *testing.T, o *Options) {
			o.Hosts = map[string]string{"gpu-01": "SHA256:a", "gpu-02": "SHA256:c"}
		},
		names: "SSH host key of gpu-02: SHA256:b then, SHA256:c now",
	},
	"machines that were not known": {
		now:   func(_ *testing.T, o *Options) { o.Hosts = map[string]string{"gpu-01": "SHA256:a"} },
		names: "SSH host key of gpu-01: nothing then, SHA256:a now",
	},
	"machines that are no longer known": {
		then: func(_ *testing.T, o *Options) {
			o.Hosts = map[string]string{"gpu-01": "SHA256:a", "gpu-02": "SHA256:b"}
		},
		now:   func(_ *testing.T, o *Options) { o.Hosts = map[string]string{"gpu-01": "SHA256:a"} },
		names: "SSH host key of gpu-02: SHA256:b then, nothing now",
	},
	"the same machines": {
		then: func(_ *testing.T, o *Options) { o.Hosts = map[string]string{"gpu-01": "SHA256:a"} },
		now:  func(_ *testing.T, o *Options) { o.Hosts = map[string]string{"gpu-01": "SHA256:a"} },
	},
	"an age within the limit": {now: func(_ *testing.T, o *Options) { o.Clock = at(day.Add(6 * 24 * time.Hour)) }},
}

func unreachable(context.Context) (*kube.Cluster, error) { return nil, errors.New("no route") }

// optionsAt are of one cluster, at that time.
func optionsAt(t *testing.T, dir string, when time.Time) Options {
	t.Helper()
	o := options(t, dir, planOf("facility", "b", "c"))
	o.Cluster, o.Clock, o.Keep = clusterOf("one", false), at(when), true
	return o
}

// accept resumes a run and keeps a verdict only if all inputs of the verdicts are unchanged;
// otherwise it names the difference. Regression: accept resumed an unfinished run that was
// years old, on another cluster and with a looser profile, and reported it as production.
func TestKeptVerdicts(t *testing.T) {
	t.Parallel()
	for name, tt := range changes {
		for _, how := range []string{"resumed by itself", "--resume", "--from"} {
			t.Run(name+"/"+how, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				then, now := optionsAt(t, dir, day), optionsAt(t, dir, day.Add(time.Hour))
				if how != "--from" {
					then.Until = "b"
				}
				if tt.then != nil {
					tt.then(t, &then)
				}
				first, err := Run(t.Context(), then)
				if err != nil {
					t.Fatal(err)
				}
				switch how {
				case "--resume":
					now.Resume = first.Run
				case "--from":
					now.From = "c"
				}
				if tt.now != nil {
					tt.now(t, &now)
				}
				var notes []string
				now.Note = func(text string) { notes = append(notes, text) }
				second, err := Run(t.Context(), now)
				said := strings.Join(notes, "\n")
				if err != nil {
					said += err.Error()
				}
				if tt.names == "" {
					if err != nil || second.Verdict != check.Passed {
						t.Fatalf("%v %+v %v", err, second, notes)
					}
					kept := strings.Join(second.NarrowedBy, "\n")
					for _, want := range []string{"kept", "facility", "b", "2026-11-22T03:04:05Z", first.Run} {
						if !strings.Contains(kept, want) {
							t.Errorf("it is narrowed by %q, which does not say %q", kept, want)
						}
					}
					return
				}
				if !strings.Contains(said, tt.names) {
					t.Errorf("it says %q, and not %q", said, tt.names)
				}
				input, refused := errors.AsType[*InputError](err)
				if refused != (how != "resumed by itself") {
					t.Errorf("%v %v", input, err)
				}
				if !refused && (second.Run == first.Run || strings.Contains(strings.Join(second.NarrowedBy, "\n"), "kept")) {
					t.Errorf("run %s was resumed: %+v", first.Run, second)
				}
			})
		}
	}
}

// An accept without a selection covers the whole playbook: it does not resume a killed run of a
// single gate.
func TestRunOfOneGateIsNotResumedAutomatically(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := optionsAt(t, dir, day)
	p, err := o.Playbook(PlanContext{})
	if err != nil {
		t.Fatal(err)
	}
	run, err := evidence.Create(dir, evidence.Start{
		Header: evidence.Header{Site: o.Site.Name, Profile: o.Profile.Name, Only: "b", Cluster: "one", Simulated: evidence.HardwareReal}, Plan: p, Site: o.SiteFile, Profile: o.ProfileFile,
	}, evidence.Options{Clock: o.Clock})
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := Run(t.Context(), o)
	if err != nil || gatesOf(r) != "facility b c" || r.Run == run.ID() {
		t.Errorf("%v %+v", err, r)
	}
	o.Resume = run.ID()
	r, err = Run(t.Context(), o)
	if err != nil || gatesOf(r) != "b" || !strings.Contains(strings.Join(r.NarrowedBy, "\n"), "only b was selected: 1 of 3 checks") {
		t.Errorf("asked for: %v %+v", err, r)
	}
	if b, err := evidence.Load(filepath.Join(dir, run.ID())); err != nil || !b.Finished {
		t.Errorf("%v", err)
	}
}
