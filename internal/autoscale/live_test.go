package autoscale_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/autoscale"
	"github.com/firstlight/firstlight/internal/autoscale/settings"
	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/autoscale/track"
	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/lab/labtest"
	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/prom"
	"github.com/firstlight/firstlight/internal/suite"
	"github.com/firstlight/firstlight/internal/world"
)

// TestLive is all that a lab is needed for, with Karpenter.
func TestLive(t *testing.T) {
	suite.Live(t)
	b := labtest.Start(t, world.DefaultSpec(2), component.ExtraAdapter, component.ExtraKarpenter)
	t.Run("Settings", func(t *testing.T) { testSettings(t, b) })
	t.Run("Track", func(t *testing.T) { testTrack(t, b) })
	t.Run("Interrupt", func(t *testing.T) { testInterrupt(t, b) })
	t.Run("ForeignPods", func(t *testing.T) { testForeignPods(t, b) })
	t.Run("ForeignPodOnANodeOfTheRun", func(t *testing.T) { testForeignPodOnANodeOfTheRun(t, b) })
}

// requireNoneLeft fails when anything of ours still runs in the background.
func requireNoneLeft(t *testing.T, packages ...string) {
	t.Helper()
	polltest.UntilNil(t, "goroutines to end", func() error {
		stacks := make([]byte, 4<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		for one := range strings.SplitSeq(string(stacks), "\n\n") {
			for _, p := range packages {
				if strings.Contains(one, "/internal/autoscale/"+p+".") {
					return errors.New(one)
				}
			}
		}
		return nil
	})
}

func testSettings(t *testing.T, b *labtest.Lab) {
	client, err := prom.Connect(b.Site.Reach.Prometheus, b.Cluster)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	found := settings.Find(t.Context(), settings.Where{
		Cluster: b.Cluster, Prometheus: &prom.Prometheus{Client: client}, Site: b.Site, External: true,
		Metric:        func(context.Context, *prom.Job) string { return "dcgm_gpu_power_usage" },
		Stabilization: 5 * time.Second, Consolidate: 2 * time.Second, Pool: "p",
	})
	want := map[string]time.Duration{
		snapshot.SettingScrape: time.Second, snapshot.SettingRelist: 2 * time.Second, snapshot.SettingWindow: 5 * time.Second, snapshot.SettingHPASync: time.Second,
		snapshot.SettingStabilization: 5 * time.Second, snapshot.SettingBatchIdle: 200 * time.Millisecond, snapshot.SettingBatchMax: time.Second,
		snapshot.SettingRegistration: 0, snapshot.SettingConsolidate: 2 * time.Second, snapshot.SettingDisruption: 10 * time.Second, snapshot.SettingValidation: 15 * time.Second,
	}
	for _, s := range found.Settings {
		if v, ok := want[s.Name]; ok && (v != s.Value.Duration || s.Assumed) {
			t.Errorf("%s is %s by %s, assumed %t; want %s", s.Name, s.Value.Duration, s.Source, s.Assumed, v)
		}
		delete(want, s.Name)
	}
	for name := range want {
		t.Errorf("%s was not found", name)
	}
	if found.Exporters == nil || !found.Exporters.HonorLabels || len(found.Rules) == 0 {
		t.Errorf("exporters %+v, %d rules (%s)", found.Exporters, len(found.Rules), found.Why)
	}
}

func testTrack(t *testing.T, b *labtest.Lab) {
	const run = "live-track"
	guest := kube.Guest{Cluster: b.Cluster}
	tr := track.New(track.Options{
		Cluster: b.Cluster, Run: run, Namespace: kube.NamespaceOf(run), Pools: []string{"none"}, Karpenter: true,
		API: "external.metrics.k8s.io", Queues: true, // a kind that this lab does not have
		Programs: []track.Program{{Role: "adapter", Namespace: "monitoring", Name: "prometheus-adapter"}, {Role: "autoscaler", Namespace: "kube-system", Name: "absent"}},
	})
	if err := tr.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer requireNoneLeft(t, "track")
	defer tr.Stop()
	before, _ := tr.Before()
	if len(before) != 2+len(b.Site.Inventory.SystemNodes) {
		t.Errorf("nodes of before: %v", before)
	}
	st := tr.State()
	if len(st.APIs) != 1 || st.APIs[0].Absent || st.APIs[0].Service == "" {
		t.Errorf("APIs: %+v", st.APIs)
	}
	if len(st.Programs) != 2 || st.Programs[0].Absent || st.Programs[0].Desired != 1 || !st.Programs[1].Absent {
		t.Errorf("programs: %+v", st.Programs)
	}
	if len(st.Pools) != 1 || !st.Pools[0].Absent {
		t.Errorf("pools: %+v", st.Pools)
	}
	if st.Problems["queues"] == "" || len(st.Problems) != 1 {
		t.Errorf("problems: %v", st.Problems)
	}

	ns, err := guest.EnsureNamespace(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	create(t, b, ns, run)
	var first snapshot.Pod
	polltest.UntilNil(t, "the pod to be ready", func() error {
		st := tr.State()
		if len(st.Pods) != 1 || st.Pods[0].ReadyAt.IsZero() {
			return fmt.Errorf("%+v", st.Pods)
		}
		first = st.Pods[0]
		return nil
	})
	if first.Role != "worker" || first.UID == "" || first.Node == "" || first.BoundAt.Before(first.First) || first.ReadyAt.Before(first.BoundAt) {
		t.Errorf("%+v", first)
	}
	polltest.UntilNil(t, "the events about it", func() error {
		for _, e := range tr.State().Events {
			if e.Reason == "Scheduled" && e.About.UID == first.UID && e.From == "default-scheduler" {
				return nil
			}
		}
		return fmt.Errorf("%+v", tr.State().Events)
	})
	// Another takes its place; the first stays known, as gone.
	if err := b.Cluster.Client.CoreV1().Pods(ns).Delete(t.Context(), first.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	polltest.UntilNil(t, "its successor", func() error {
		pods := tr.State().Pods
		if len(pods) != 2 || !pods[0].Gone() || pods[0].UID != first.UID || pods[1].Gone() || pods[0].Deleting.IsZero() {
			return fmt.Errorf("%+v", pods)
		}
		return nil
	})
	if err := guest.Cleanup(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	requireClean(t, b, run)
	if got := tr.State().Missing; len(got) != 0 {
		t.Errorf("missing: %v", got)
	}
}

// create makes a Deployment of one pod without GPUs.
func create(t *testing.T, b *labtest.Lab, ns, run string) {
	t.Helper()
	labels := kube.Labels(run, "autoscale")
	labels[kube.LabelRole] = snapshot.RoleWorker
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "worker", Namespace: ns, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
				Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
				Containers:  []corev1.Container{{Name: "worker", Image: "registry.k8s.io/pause:3.10"}},
			}},
		},
	}
	if _, err := b.Cluster.Client.AppsV1().Deployments(ns).Create(t.Context(), d, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func requireClean(t *testing.T, b *labtest.Lab, run string) {
	t.Helper()
	left, err := kube.Guest{Cluster: b.Cluster}.LeftOf(t.Context(), run)
	if err != nil || len(left) > 0 {
		t.Errorf("left of %s: %+v, %v", run, left, err)
	}
}

// notes takes what a chain records, and hears what it tells.
type notes struct {
	t  *testing.T
	mu sync.Mutex
	o  []check.Observation
}

// Record implements check.Recorder.
func (n *notes) Record(o check.Observation) (check.Observation, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	o.ID = fmt.Sprint(len(n.o))
	n.o = append(n.o, o)
	return o, nil
}

// Progress implements check.Recorder.
func (n *notes) Progress(string, ...any) {}

// An interrupt ends the chain at once, and what it has made can be removed by its
// label while Karpenter is about to make more.
func testInterrupt(t *testing.T, b *labtest.Lab) {
	const run = "live-interrupt"
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := autoscale.Options{Events: func(e autoscale.HopEvent) {
		if e.Hop == snapshot.HopNodeClaim {
			cancel()
		}
	}}
	c := autoscale.New(b.Site, b.Profile, o, autoscale.Deps{
		Cluster: b.Open, RunID: run,
	})
	rec := &notes{t: t}
	if err := c.Observe(ctx, rec); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	requireNoneLeft(t, "track", "metric")
	guest := kube.Guest{Cluster: b.Cluster}
	left, err := guest.LeftOf(t.Context(), run)
	if err != nil || !slices.ContainsFunc(left, func(l kube.Leftover) bool { return l.Kind == "NodePool" }) {
		t.Errorf("left by the interrupt: %v, %v", left, err)
	}
	if err := guest.Cleanup(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	requireClean(t, b, run)
}
