package accept

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/gate/ray"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/site"
)

// A run deletes the RayCluster that a killed run left in the namespace of the site's RayCluster, and its own; no other.
func TestTheRayClusterOfAKilledRunIsDeleted(t *testing.T) {
	t.Parallel()
	dir, c := t.TempDir(), sharedCluster()
	create := func(namespace, name, run string) {
		t.Helper()
		u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "ray.io/v1", "kind": "RayCluster"}}
		u.SetName(name)
		if run != "" {
			u.SetLabels(kube.Labels(run, "gpustack"))
		}
		if _, err := c.Dynamic.Resource(kube.RayClusters()).Namespace(namespace).Create(t.Context(), u, metav1.CreateOptions{}); err != nil {
			t.Error(err)
		}
	}
	o := holding(t, dir, c, nil)
	killed := unfinished(t, dir, using(func() {}))
	playbook := using(func() { create("ray", "own", newest(t, dir, killed)) })
	o.Playbook = func(c PlanContext) (plan.Plan, error) {
		if c.RunID != "" && !slices.Equal(c.Killed, []string{killed}) {
			t.Errorf("killed runs %q, want %s", c.Killed, killed)
		}
		return playbook(c)
	}
	create("ray", "ray", "")
	create("ray", "firstlight-killed", killed)
	create("ray", "firstlight-other", "other")
	create("elsewhere", "copy", killed)
	o.Site.Ray = &site.Ray{Namespace: "ray", Cluster: "ray"}
	o.Fresh = true
	if r, err := Run(t.Context(), o); err != nil || r.Verdict != check.Passed || r.Run == killed {
		t.Fatalf("%+v, %v", r, err)
	}
	list, err := c.Dynamic.Resource(kube.RayClusters()).Namespace(metav1.NamespaceAll).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, one := range list.Items {
		names = append(names, one.GetName())
	}
	slices.Sort(names)
	if !slices.Equal(names, []string{"copy", "firstlight-other", "ray"}) {
		t.Errorf("left: %v", names)
	}
}

// newest is the run of a directory that is not another one.
func newest(t *testing.T, dir, other string) string {
	t.Helper()
	ids, err := evidence.List(dir)
	if err != nil {
		t.Error(err)
	}
	for _, id := range ids {
		if id != other {
			return id
		}
	}
	t.Error("no other run")
	return ""
}

// reads is a check that records the RayCluster, as gate gpustack does.
type reads struct {
	look
	context PlanContext
}

func (r reads) Observe(ctx context.Context, rec check.Recorder) error {
	c, err := r.context.Cluster(ctx)
	if err != nil {
		return err
	}
	found, err := c.Dynamic.Resource(kube.RayClusters()).Namespace("ray").Get(ctx, "ray", metav1.GetOptions{})
	if err != nil {
		return err
	}
	identity, err := ray.Identify(ctx, c, &site.Ray{Namespace: "ray", Cluster: "ray"})
	if err != nil {
		return err
	}
	_, spec, _ := strings.Cut(identity, "spec ")
	figures, err := json.Marshal(map[string]any{"uid": found.GetUID(), "spec": spec})
	if err != nil {
		return err
	}
	_, err = rec.Record(check.Observation{Kind: "raycluster", Target: "ray/ray", Figures: figures})
	return err
}

// Verdicts about a RayCluster are kept only for the same object with the same spec.
func TestVerdictsAreOfOneRayCluster(t *testing.T) {
	t.Parallel()
	merged, err := site.Over(site.Example(), "ray.yaml", site.RayExample())
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		uid     types.UID
		version string // of Ray, in the spec
		want    string
	}{
		"the same":   {"one", "2.52.0", ""},
		"recreated":  {"two", "2.52.0", "then, UID two, spec"},
		"other spec": {"one", "2.53.0", "RayCluster ray/ray: UID one, spec"},
		"deleted":    {"", "", "cannot read RayCluster ray/ray"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := sharedCluster()
			put := func(uid types.UID, version string) {
				t.Helper()
				api := c.Dynamic.Resource(kube.RayClusters()).Namespace("ray")
				_ = api.Delete(t.Context(), "ray", metav1.DeleteOptions{}) // not found the first time
				if uid == "" {
					return
				}
				u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "ray.io/v1", "kind": "RayCluster", "spec": map[string]any{"rayVersion": version}}}
				u.SetName("ray")
				u.SetUID(uid)
				if _, err := api.Create(t.Context(), u, metav1.CreateOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			put("one", "2.52.0")
			o := holding(t, t.TempDir(), c, nil)
			o.SiteFile = merged
			parsed, err := site.Parse("site.yaml", merged)
			if err != nil {
				t.Fatal(err)
			}
			o.Site = parsed
			o.Playbook = func(c PlanContext) (plan.Plan, error) {
				return plan.Plan{Name: "ray", Steps: []plan.Step{{Check: reads{look("gpustack"), c}}, {Check: look("telemetry")}}}, nil
			}
			first, err := Run(t.Context(), o)
			if err != nil || first.Verdict != check.Passed {
				t.Fatalf("%+v, %v", first, err)
			}
			put(tt.uid, tt.version)
			var notes []string
			o.From, o.Note = "telemetry", func(text string) { notes = append(notes, text) }
			r, err := Run(t.Context(), o)
			if tt.want == "" {
				if err != nil || r.Gates[0].KeptFrom != first.Run {
					t.Errorf("%+v, %v", r, err)
				}
				return
			}
			if text := strings.Join(notes, "\n"); err == nil || !strings.Contains(text, tt.want) {
				t.Errorf("%v, notes %q, want %q", err, text, tt.want)
			}
		})
	}
}
