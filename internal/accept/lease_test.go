package accept

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/evidence"
	"github.com/firstlight/firstlight/internal/plan"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// sharedCluster is one cluster that several runs reach. Its namespaces have their default
// account at once and are found by name, and what the dynamic client lists is empty.
func sharedCluster() *kube.Cluster {
	system := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: metav1.NamespaceSystem, UID: types.UID("one")}}
	client := fake.NewClientset(system)
	client.PrependReactor("list", "serviceaccounts", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, &corev1.ServiceAccountList{Items: []corev1.ServiceAccount{{ObjectMeta: metav1.ObjectMeta{Name: "default"}}}}, nil
	})
	client.PrependReactor("list", "namespaces", func(action clienttesting.Action) (bool, runtime.Object, error) {
		asked, ok := action.(clienttesting.ListAction)
		if !ok {
			return false, nil, nil
		}
		name, byName := asked.GetListRestrictions().Fields.RequiresExactMatch("metadata.name")
		if !byName {
			return false, nil, nil
		}
		one, err := client.Tracker().Get(corev1.SchemeGroupVersion.WithResource("namespaces"), "", name)
		list := &corev1.NamespaceList{}
		if ns, ok := one.(*corev1.Namespace); ok && err == nil {
			list.Items = append(list.Items, *ns)
		}
		return true, list, nil
	})
	kinds := map[schema.GroupVersionResource]string{}
	for _, r := range []schema.GroupVersionResource{
		{Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers"}, {Group: "apps", Version: "v1", Resource: "deployments"},
		{Group: "batch", Version: "v1", Resource: "jobs"}, {Version: "v1", Resource: "pods"}, {Version: "v1", Resource: "nodes"},
		{Version: "v1", Resource: "services"}, {Group: "resource.k8s.io", Version: "v1", Resource: "resourceclaimtemplates"},
		{Group: "resource.k8s.io", Version: "v1beta2", Resource: "resourceclaimtemplates"}, {Group: "resource.k8s.io", Version: "v1beta1", Resource: "resourceclaimtemplates"},
		{Group: "kueue.x-k8s.io", Version: "v1beta2", Resource: "localqueues"}, {Group: "kueue.x-k8s.io", Version: "v1beta1", Resource: "localqueues"},
		{Group: "monitoring.coreos.com", Version: "v1", Resource: "podmonitors"}, kube.PrometheusRules(),
		kube.TrainJobs(), kube.JobSets(), kube.MPIJobs(), kube.VolcanoJobs(), {Group: "trainer.kubeflow.org", Version: "v1alpha1", Resource: "trainingruntimes"},
		{Group: "scheduling.volcano.sh", Version: "v1beta1", Resource: "podgroups"},
		kube.RayClusters(), kube.PodGroups(), kube.PodGroupsOf("v1beta1"), {Group: "scheduling.run.ai", Version: "v2alpha2", Resource: "podgroups"}, kube.NodePools(), kube.NodeClaims(), kube.Queues(),
	} {
		kinds[r] = "List"
	}
	return &kube.Cluster{Client: client, Dynamic: dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds)}
}

// user is a check that makes the run's namespace, as one that starts pods does, and then does
// something.
type user struct {
	look
	context PlanContext
	then    func()
}

func (u user) Observe(ctx context.Context, rec check.Recorder) error {
	cluster, err := u.context.Cluster(ctx)
	if err != nil {
		return err
	}
	if _, err := (kube.Guest{Cluster: cluster}).EnsureNamespace(ctx, u.context.RunID); err != nil {
		return err
	}
	u.then()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return u.look.Observe(ctx, rec)
}

// using is a plan of one gate that uses the cluster.
func using(then func()) func(PlanContext) (plan.Plan, error) {
	return func(c PlanContext) (plan.Plan, error) {
		return plan.Plan{Name: "using", Steps: []plan.Step{{Check: user{look("node"), c, then}}}}, nil
	}
}

func holding(t *testing.T, dir string, c *kube.Cluster, then func()) Options {
	t.Helper()
	o := options(t, dir, using(then))
	o.Cluster, o.Keep = func(context.Context) (*kube.Cluster, error) { return c, nil }, false
	return o
}

func namespaceOf(t *testing.T, c *kube.Cluster, run string) bool {
	t.Helper()
	_, err := c.Client.CoreV1().Namespaces().Get(t.Context(), kube.NamespaceOf(run), metav1.GetOptions{})
	return err == nil
}

// runIn is the only run of a directory. It is called in parallel with the test.
func runIn(t *testing.T, dir string) string {
	t.Helper()
	ids, err := evidence.List(dir)
	if err != nil || len(ids) != 1 {
		t.Error(ids, err)
		return ""
	}
	return ids[0]
}

// copyLive copies a directory in which a live run writes. CopyFS ends at a temporary file that
// it listed and that the run then renamed. Temporary files are left out.
func copyLive(to, from string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(from, path)
		switch {
		case strings.HasPrefix(d.Name(), ".") && strings.HasSuffix(d.Name(), ".tmp"):
			return nil
		case err != nil:
			return err
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o700)
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), raw, 0o600)
	})
}

// A copy of the directory of a live run was taken for a killed run: its objects were deleted
// under it, and the live run said that its gate could not be observed.
func TestACopiedDirectoryDoesNotHarmALiveRun(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]func(o *Options, run string){
		"fresh":     func(o *Options, _ string) { o.Fresh = true },
		"by itself": func(*Options, string) {},
		"by name":   func(o *Options, run string) { o.Resume = run },
		"latest":    func(o *Options, _ string) { o.Resume = "latest" },
		"one gate":  func(o *Options, _ string) { o.Only = "node" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, copied, c := t.TempDir(), filepath.Join(t.TempDir(), "evidence"), sharedCluster()
			a := holding(t, dir, c, func() {
				run := runIn(t, dir)
				if err := copyLive(copied, dir); err != nil {
					t.Error(err)
				}
				b := holding(t, copied, c, func() { t.Error("the copy resumed the run") })
				ask(&b, run)
				r, err := Run(t.Context(), b)
				if _, refused := errors.AsType[*InputError](err); !refused || r.Run != "" || !strings.Contains(err.Error(), "run "+run+" is live: held by ") {
					t.Errorf("next to a live run: %+v, %v", r, err)
				}
				if !namespaceOf(t, c, run) {
					t.Error("the namespace of the live run was removed")
				}
			})
			r, err := Run(t.Context(), a)
			if err != nil || r.Verdict != check.Passed {
				t.Errorf("the live run: %+v, %v", r, err)
			}
			if namespaceOf(t, c, r.Run) {
				t.Error("the live run left its namespace")
			}
		})
	}
}

// held leaves an unfinished run whose objects and Lease are in the cluster.
func held(t *testing.T, dir string, c *kube.Cluster, h kube.RunLease) string {
	t.Helper()
	o := holding(t, dir, c, func() {})
	id := unfinished(t, dir, o.Playbook)
	if _, err := (kube.Guest{Cluster: c}).EnsureNamespace(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if err := c.WriteRunLease(t.Context(), id, nil, h); err != nil {
		t.Fatal(err)
	}
	return id
}

// ended is the id of a process of this machine that has exited.
func ended(t *testing.T) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	return process{host: "here", pid: cmd.Process.Pid, start: "1", machine: thisMachine(), nonce: "0"}.String()
}

func TestDeadHolders(t *testing.T) {
	t.Parallel()
	const elsewhere = "there/12/34/abcdef/00"
	now := time.Now().Add(time.Hour) // after the runs were begun
	for name, tt := range map[string]struct {
		holder  string
		renewed time.Time
		// during is what happens while the Lease is watched; nil: it is not.
		during func(ctx context.Context, c *kube.Cluster, run string, h kube.RunLease) error
		live   bool
	}{
		"another machine, just renewed":            {holder: elsewhere, renewed: now.Add(-5 * time.Second), live: true},
		"another machine, its clock is ahead":      {holder: elsewhere, renewed: now.Add(30 * time.Second), live: true},
		"this machine, ended a moment ago":         {holder: "ended", renewed: now.Add(-time.Second)},
		"another machine, long ago, silent":        {holder: elsewhere, renewed: now.Add(-time.Hour), during: silence},
		"another machine, years ahead, silent":     {holder: elsewhere, renewed: now.Add(24 * 365 * time.Hour), during: silence},
		"not a name of ours, silent":               {holder: "somebody", renewed: now.Add(-time.Hour), during: silence},
		"another machine, its clock an hour late":  {holder: elsewhere, renewed: now.Add(-time.Hour), during: renewal, live: true},
		"another machine, its clock a year ahead":  {holder: elsewhere, renewed: now.Add(24 * 365 * time.Hour), during: renewal, live: true},
		"another machine, released while watching": {holder: elsewhere, renewed: now.Add(-time.Hour), during: removal},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, c := t.TempDir(), sharedCluster()
			if tt.holder == "ended" {
				tt.holder = ended(t)
			}
			h := kube.RunLease{Holder: tt.holder, Renewed: tt.renewed, Duration: time.Minute}
			id := held(t, dir, c, h)
			o := holding(t, dir, c, func() {})
			o.Fresh, o.Clock = true, at(now)
			watched := false
			o.Wait = func(ctx context.Context, d time.Duration) error {
				watched = true
				if d != time.Minute || tt.during == nil {
					t.Errorf("watched for %s", d)
					return nil
				}
				return tt.during(ctx, c, id, h)
			}
			r, err := Run(t.Context(), o)
			if watched != (tt.during != nil) {
				t.Errorf("watched: %t", watched)
			}
			if tt.live {
				if _, refused := errors.AsType[*InputError](err); !refused || !namespaceOf(t, c, id) {
					t.Errorf("a live run: %v, its namespace exists: %t", err, namespaceOf(t, c, id))
				}
				return
			}
			if err != nil || r.Verdict != check.Passed || namespaceOf(t, c, id) {
				t.Errorf("a dead run: %+v, %v; its namespace exists: %t", r, err, namespaceOf(t, c, id))
			}
		})
	}
}

func silence(context.Context, *kube.Cluster, string, kube.RunLease) error { return nil }

func renewal(ctx context.Context, c *kube.Cluster, run string, _ kube.RunLease) error {
	h, err := c.GetRunLease(ctx, run)
	if err != nil {
		return err
	}
	again := *h
	again.Renewed = h.Renewed.Add(15 * time.Second)
	return c.WriteRunLease(ctx, run, h, again)
}

func removal(ctx context.Context, c *kube.Cluster, run string, h kube.RunLease) error {
	return c.DeleteRunLease(ctx, run, h)
}

// A process whose run was taken over ends and removes nothing: the objects are the
// other's.
func TestARunTakenOverByAnotherProcessEnds(t *testing.T) {
	t.Parallel()
	dir, c := t.TempDir(), sharedCluster()
	var run string
	x, err := newExecution(Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := holding(t, dir, c, nil)
	o.Playbook = func(of PlanContext) (plan.Plan, error) {
		return using(func() {
			run = of.RunID
			h, err := c.GetRunLease(t.Context(), run)
			if err != nil || h == nil {
				t.Error(h, err)
				return
			}
			taken := *h
			taken.Holder = x.process.String()
			if err := c.WriteRunLease(t.Context(), run, h, taken); err != nil {
				t.Error(err)
				return
			}
			held, err := of.Cluster(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := (kube.Guest{Cluster: held}).EnsureNamespace(t.Context(), run); err == nil {
				t.Error("the namespace of another process was used")
			}
		})(of)
	}
	_, err = Run(t.Context(), o)
	if _, refused := errors.AsType[*InputError](err); !refused || !strings.Contains(err.Error(), "is live: held by") {
		t.Errorf("it ends with %v", err)
	}
	if !namespaceOf(t, c, run) {
		t.Error("the namespace of the other process was removed")
	}
}

// Renewal continues while the cluster does not respond, and ends when another process holds the Lease.
func TestRenewal(t *testing.T) {
	t.Parallel()
	dir, c := t.TempDir(), sharedCluster()
	id := unfinished(t, dir, planOf("a"))
	run, err := evidence.Open(filepath.Join(dir, id), evidence.Options{})
	if err != nil {
		t.Fatal(err)
	}
	now := day
	var notes []string
	x, err := newExecution(Options{Clock: func() time.Time { return now }, Note: func(text string) { notes = append(notes, text) }})
	if err != nil {
		t.Fatal(err)
	}
	x.run, x.cluster, x.cancel = run, c, func(error) {}
	if err := x.acquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	x.renewing() // ends the renewals in the background: the test renews
	now = now.Add(30 * time.Second)
	if err := x.renewOnce(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	h, err := c.GetRunLease(t.Context(), id)
	if err != nil || !h.Renewed.Equal(now) || h.Holder != x.process.String() {
		t.Fatalf("%+v, %v", h, err)
	}
	client, ok := c.Client.(*fake.Clientset)
	if !ok {
		t.Fatal("another client")
	}
	away := true
	client.PrependReactor("*", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
		if away {
			return true, nil, errors.New("no route")
		}
		return false, nil, nil
	})
	if err := x.renewOnce(t.Context(), c); err != nil {
		t.Errorf("a cluster that is away ends the run: %v", err)
	}
	if err := x.renewOnce(t.Context(), c); err != nil || len(notes) != 1 || !strings.Contains(notes[0], "no route") {
		t.Errorf("%v; notes %q, want one that says why the Lease was not renewed", err, notes)
	}
	away = false
	taken := *h
	taken.Holder = "there/12/34/abcdef/00"
	if err := c.WriteRunLease(t.Context(), id, h, taken); err != nil {
		t.Fatal(err)
	}
	if err := x.renewOnce(t.Context(), c); err == nil || !strings.Contains(err.Error(), "held by there pid 12") {
		t.Errorf("another has the Lease: %v", err)
	}
	if err := x.release(t.Context()); !errors.Is(err, errHeld) {
		t.Errorf("the Lease of another is released: %v", err)
	}
	if err := run.Close(); err != nil {
		t.Fatal(err)
	}
}

// failing makes requests for Leases fail while it returns true.
func failing(t *testing.T, c *kube.Cluster, verb string, fails func() bool) {
	t.Helper()
	client, ok := c.Client.(*fake.Clientset)
	if !ok {
		t.Fatal("another client")
	}
	client.PrependReactor(verb, "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
		if fails() {
			return true, nil, errors.New("no route")
		}
		return false, nil, nil
	})
}

func TestOneFailedReadOfTheLeaseDoesNotEndTheRun(t *testing.T) {
	t.Parallel()
	for n := range 6 {
		t.Run(fmt.Sprintf("request %d", n+1), func(t *testing.T) {
			t.Parallel()
			dir, c := t.TempDir(), sharedCluster()
			held(t, dir, c, kube.RunLease{Holder: ended(t), Renewed: time.Now().UTC().Truncate(time.Microsecond), Duration: time.Minute})
			var requests atomic.Int32
			failing(t, c, "get", func() bool { return int(requests.Add(1)) == n+1 })
			o := holding(t, dir, c, func() {})
			o.Fresh, o.Wait = true, func(context.Context, time.Duration) error { return nil }
			r, err := Run(t.Context(), o)
			if err != nil || r.Verdict != check.Passed {
				t.Errorf("%s, %v: %+v", r.Verdict, err, r.Gates)
			}
		})
	}
}

// Only the run itself deletes its Lease: without it, another process may have removed its
// objects.
func TestARemovedLeaseEndsTheRun(t *testing.T) {
	t.Parallel()
	dir, c := t.TempDir(), sharedCluster()
	o := holding(t, dir, c, nil)
	o.Playbook = func(of PlanContext) (plan.Plan, error) {
		return using(func() {
			leases := c.Client.CoordinationV1().Leases(kube.NamespaceOf(of.RunID))
			if err := leases.Delete(t.Context(), kube.LeaseOf(of.RunID), metav1.DeleteOptions{}); err != nil {
				t.Error(err)
			}
			cluster, err := of.Cluster(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := (kube.Guest{Cluster: cluster}).EnsureNamespace(t.Context(), of.RunID); err == nil {
				t.Error("objects can still be created")
			}
		})(of)
	}
	r, err := Run(t.Context(), o)
	if err == nil || !strings.Contains(err.Error(), "was removed") || r.Verdict == check.Passed {
		t.Errorf("%s, %v", r.Verdict, err)
	}
}

// leased is an execution that has the Lease of its run.
func leased(t *testing.T, c *kube.Cluster, clock func() time.Time) *execution {
	t.Helper()
	dir := t.TempDir()
	run, err := evidence.Open(filepath.Join(dir, unfinished(t, dir, planOf("a"))), evidence.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x, err := newExecution(Options{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	x.run, x.cluster, x.cancel = run, c, func(error) {}
	if err := x.acquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := run.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

// Another process may take over when the Lease has not been renewed for its duration: the
// holder ends before that, also when the last failed renewal was shortly before it.
func TestALeaseThatCannotBeRenewedEndsTheRunInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, away := sharedCluster(), false
		failing(t, c, "*", func() bool { return away })
		x := leased(t, c, time.Now)
		<-time.After(40 * time.Second) // renewed after 15 s and 30 s
		away = true
		<-time.After(49 * time.Second)
		synctest.Wait()
		if err := x.lostTo(); err != nil {
			t.Errorf("lost 59 s after the last renewal: %v", err)
		}
		<-time.After(time.Second)
		synctest.Wait()
		if err := x.lostTo(); err == nil || !strings.Contains(err.Error(), "no route") {
			t.Errorf("60 s after the last renewal: %v", err)
		}
		if err := x.acquire(t.Context()); err == nil {
			t.Error("a lost Lease was acquired again")
		}
		if err := x.release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A run continues after an outage that is shorter than the Lease.
func TestAnOutageShorterThanTheLeaseEndsNoRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := sharedCluster()
		var away atomic.Bool
		failing(t, c, "*", away.Load)
		x := leased(t, c, time.Now)
		<-time.After(31 * time.Second) // renewed after 30 s
		away.Store(true)
		<-time.After(54 * time.Second)
		synctest.Wait()
		away.Store(false)
		<-time.After(2 * time.Second)
		synctest.Wait()
		if h, err := c.GetRunLease(t.Context(), x.run.ID()); err != nil || h == nil || time.Since(h.Renewed) > 2*time.Second {
			t.Errorf("2 s after the outage the Lease is %+v, %v", h, err)
		}
		<-time.After(time.Minute)
		synctest.Wait()
		if err := x.lostTo(); err != nil {
			t.Errorf("the cluster was away for 54 s: %v", err)
		}
		if err := x.release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// reacting adds a reaction to requests for Leases; it returns true and the response, or false.
func reacting(t *testing.T, c *kube.Cluster, verb string, react func() (bool, error)) {
	t.Helper()
	client, ok := c.Client.(*fake.Clientset)
	if !ok {
		t.Fatal("another client")
	}
	client.PrependReactor(verb, "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
		done, err := react()
		return done, nil, err
	})
}

// A renewal that the server carries out late changes the Lease between the read and the deletion.
func TestAConflictAtTheReleaseIsRepeated(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := sharedCluster()
		x := leased(t, c, time.Now)
		conflicts := 2
		reacting(t, c, "delete", func() (bool, error) {
			conflicts--
			return conflicts >= 0, apierrors.NewConflict(schema.GroupResource{Resource: "leases"}, "ours", errors.New("it was modified"))
		})
		if err := x.release(t.Context()); err != nil {
			t.Error(err)
		}
		if h, err := c.GetRunLease(t.Context(), x.run.ID()); h != nil || err != nil {
			t.Errorf("released, it is %+v, %v", h, err)
		}
	})
}

// Other checks of the run may still have objects: the Lease protects them until it is released.
func TestALeaseThatCannotBeReleasedIsStillRenewed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, refused := sharedCluster(), true
		x := leased(t, c, time.Now)
		reacting(t, c, "delete", func() (bool, error) {
			return refused, apierrors.NewForbidden(schema.GroupResource{Resource: "leases"}, "ours", errors.New("no rule"))
		})
		for range 2 {
			if err := x.release(t.Context()); !apierrors.IsForbidden(err) {
				t.Errorf("a release that was refused: %v", err)
			}
		}
		<-time.After(2 * time.Minute)
		synctest.Wait()
		if h, err := c.GetRunLease(t.Context(), x.run.ID()); err != nil || h == nil || time.Since(h.Renewed) > time.Minute {
			t.Errorf("after 2 minutes the Lease is %+v, %v", h, err)
		}
		refused = false
		if err := x.release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// The requests themselves take time.
func TestARequestIsRepeatedForTheDurationOfTheLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		x, err := newExecution(Options{})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		err = x.repeat(t.Context(), func(ctx context.Context) error {
			if err := x.wait(ctx, 10*time.Second); err != nil {
				return err
			}
			return errors.New("no route")
		})
		if took := time.Since(began); err == nil || took > x.limits.lease() {
			t.Errorf("it ended after %s: %v", took, err)
		}
	})
}

// A decision about a Lease that is read twice may be about two Leases.
func TestTheLeaseIsReadOnceForADecision(t *testing.T) {
	t.Parallel()
	dir, c := t.TempDir(), sharedCluster()
	k := leftRun{id: held(t, dir, c, kube.RunLease{Holder: ended(t), Renewed: time.Now(), Duration: time.Minute})}
	run, err := evidence.Open(filepath.Join(dir, k.id), evidence.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x, err := newExecution(Options{Cluster: func(context.Context) (*kube.Cluster, error) { return c, nil }})
	if err != nil {
		t.Fatal(err)
	}
	x.run, x.cluster, x.cancel, x.killed = run, c, func(error) {}, []leftRun{k}
	reads := 0
	reacting(t, c, "get", func() (bool, error) { reads++; return false, nil })
	for _, decision := range []struct {
		name string
		make func() error
	}{
		{"whether the run is live", func() error { return x.unheld(t.Context(), k) }},
		{"whether to take over the run", func() error { return x.acquire(t.Context()) }},
		{"whether the run still has it", func() error { x.renewing(); return x.renewOnce(t.Context(), c) }},
		{"whether to release it", func() error { return x.release(t.Context()) }},
		{"whether to remove the objects", func() error { return x.removeLeft(t.Context(), c) }},
	} {
		reads = 0
		if err := decision.make(); err != nil || reads != 1 {
			t.Errorf("%s: the Lease was read %d times: %v", decision.name, reads, err)
		}
	}
	if err := run.Close(); err != nil {
		t.Error(err)
	}
}

// Cleaning up removes the Lease with the namespace. It stops when another process takes over.
func TestTheLeaseWhileObjectsAreRemoved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := sharedCluster()
		x := leased(t, c, time.Now)
		ctx, cancel := context.WithCancel(t.Context())
		x.stopCleaning = cancel
		h, err := c.GetRunLease(t.Context(), x.run.ID())
		if err == nil {
			err = c.DeleteRunLease(t.Context(), x.run.ID(), *h)
		}
		if err != nil {
			t.Fatal(err)
		}
		<-time.After(2 * time.Minute)
		if err := x.lostTo(); err != nil || ctx.Err() != nil {
			t.Errorf("the removal of its own Lease ends the run: %v", err)
		}
		if err := c.WriteRunLease(t.Context(), x.run.ID(), nil, kube.RunLease{Holder: "there/12/34/abcdef/00", Renewed: time.Now(), Duration: time.Minute}); err != nil {
			t.Fatal(err)
		}
		<-time.After(15 * time.Second)
		synctest.Wait()
		if x.lostTo() == nil || ctx.Err() == nil {
			t.Error("the removal continues after another process has the run")
		}
		if err := x.release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A check that removes the namespace of the run, with its Lease, does not end the run: the next
// check acquires the Lease again.
func TestALeaseThatACheckReleasesIsAcquiredAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := sharedCluster()
		x := leased(t, c, time.Now)
		if err := x.release(t.Context()); err != nil {
			t.Fatal(err)
		}
		if h, err := c.GetRunLease(t.Context(), x.run.ID()); h != nil || err != nil {
			t.Fatalf("released, it is %+v, %v", h, err)
		}
		<-time.After(2 * time.Minute)
		if err := x.lostTo(); err != nil {
			t.Fatalf("a released Lease ends the run: %v", err)
		}
		if err := x.acquire(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-time.After(2 * time.Minute)
		synctest.Wait()
		if h, err := c.GetRunLease(t.Context(), x.run.ID()); err != nil || h == nil || time.Since(h.Renewed) > time.Minute {
			t.Errorf("acquired again, it is %+v, %v", h, err)
		}
		if err := x.release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// In a namespace that an administrator made, a run removes its own objects and nothing else.
func TestANamespaceOfAnAdministratorStays(t *testing.T) {
	t.Parallel()
	dir, c := t.TempDir(), sharedCluster()
	theirs := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "acceptance"}}
	if _, err := c.Client.CoreV1().Namespaces().Create(t.Context(), theirs, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	var inside []string
	o := holding(t, dir, c, nil)
	o.Namespace = "acceptance"
	o.Playbook = func(of PlanContext) (plan.Plan, error) {
		return using(func() {
			list, err := c.Client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Error(err)
				return
			}
			for _, ns := range list.Items {
				inside = append(inside, ns.Name)
			}
			if h, err := c.In("acceptance").GetRunLease(t.Context(), of.RunID); h == nil || err != nil {
				t.Errorf("no Lease in the namespace: %v", err)
			}
		})(of)
	}
	r, err := Run(t.Context(), o)
	if err != nil || r.Verdict != check.Passed {
		t.Fatalf("%+v, %v", r, err)
	}
	if got := strings.Join(inside, " "); got != "acceptance kube-system" && got != "kube-system acceptance" {
		t.Errorf("there are the namespaces %s", got)
	}
	if _, err := c.Client.CoreV1().Namespaces().Get(t.Context(), "acceptance", metav1.GetOptions{}); err != nil {
		t.Errorf("the namespace: %v", err)
	}
	if h, err := c.In("acceptance").GetRunLease(t.Context(), r.Run); h != nil || err != nil {
		t.Errorf("the Lease is left: %v, %v", h, err)
	}
}
