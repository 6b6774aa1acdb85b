package fanout

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/e2e/binary"
	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/lab/labtest"
	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/recipe"
	"github.com/firstlight/firstlight/internal/recipe/recipetest"
	"github.com/firstlight/firstlight/internal/schedule"
	"github.com/firstlight/firstlight/internal/suite"
)

// image is the one of the stub's shards.
const image = "registry.example.com/firstlight:test"

// bench is a control plane with a node whose kubelet is the test's.
type bench struct {
	admin *kube.Cluster
	// caller may do what RBAC says, and nothing else.
	caller *kube.Cluster
	// behaviour is what goes wrong in a run's shards, by the run's id.
	mu        sync.Mutex
	behaviour map[string]string
	tried     string
	// firstlight is built of this checkout.
	firstlight binary.Firstlight
}

// TestLive is all that a control plane is needed for: it is started once.
func TestLive(t *testing.T) {
	suite.Live(t)
	b := startBench(t)
	t.Run("runs", func(t *testing.T) { // the subtests are over when it returns
		t.Run("Verdicts", b.testVerdicts)
		t.Run("Refusals", b.testRefusals)
		t.Run("Room", b.testRoom)
		t.Run("Interrupt", b.testInterrupt)
		t.Run("Guest", b.testGuest)
		t.Run("Rights", b.testRights)
		t.Run("Tree", b.testTree)
		t.Run("Binary", b.testBinary)
	})
	requireNoneLeft(t)
	left, err := kube.Guest{Cluster: b.admin}.Leftovers(t.Context())
	if err != nil || len(left) > 0 {
		t.Errorf("left in the cluster: %v, %v", left, err)
	}
}

func startBench(t *testing.T) *bench {
	t.Helper()
	l, err := lab.New(lab.Options{
		Name: "distribute-test", Dir: t.TempDir(),
		WorldReady: func(context.Context, lab.Info) error { return nil },
		Log:        slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	if err := l.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	b := &bench{behaviour: map[string]string{}, tried: t.TempDir()}
	if b.admin, err = kube.New(l.RestConfig()); err != nil {
		t.Fatal(err)
	}
	b.caller = b.callerWith(t, rbac(t))
	b.buildFirstlight(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	k := &kubelet{
		client: b.admin.Client, config: l.RestConfig(), node: "worker-1", dir: t.TempDir(),
		images: map[string]string{image: self, binaryImage: b.firstlight.Path}, env: b.env,
	}
	k.start(t, corev1.ResourceList{"cpu": resource.MustParse("64"), "memory": resource.MustParse("256Gi"), "pods": resource.MustParse("100")})
	return b
}

// env returns the environment of the stub.
func (b *bench) env(pod *corev1.Pod) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	what := b.behaviour[pod.Labels[kube.LabelRun]]
	if what == "" {
		what = "good"
	}
	return []string{shardEnv + "=" + what, triedEnv + "=" + b.tried, cacheEnv()}
}

// rbac is the ClusterRole that docs/distribute.md gives to callers.
func rbac(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile("rbac.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// callerWith returns a client of a user with this role.
func (b *bench) callerWith(t *testing.T, role []byte) *kube.Cluster {
	t.Helper()
	var r rbacv1.ClusterRole
	if err := yaml.UnmarshalStrict(role, &r); err != nil {
		t.Fatal(err)
	}
	ctx, client, name := t.Context(), b.admin.Client, r.Name
	_, err := client.RbacV1().ClusterRoles().Create(ctx, &r, metav1.CreateOptions{})
	if err == nil {
		_, err = client.CoreV1().ServiceAccounts("default").Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	}
	if err == nil {
		_, err = client.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: name, Namespace: "default"}},
		}, metav1.CreateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	c := b.as(t, "default", name)
	labtest.AwaitRules(t, c, "", r.Rules)
	return c
}

// as is a ServiceAccount at work.
func (b *bench) as(t *testing.T, namespace, account string) *kube.Cluster {
	t.Helper()
	token, err := tokenOf(t.Context(), b.admin.Client, namespace, account)
	if err != nil {
		t.Fatal(err)
	}
	config := rest.AnonymousClientConfig(b.admin.Config)
	config.BearerToken = token
	c, err := kube.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// options of a run of the stub with these recipes; behaviour is a failure of shardEnv.
func (b *bench) options(run, behaviour string, names ...string) Options {
	b.mu.Lock()
	b.behaviour[run] = behaviour
	b.mu.Unlock()
	s := specOf(names...)
	s.RunID, s.Image = run, image
	return Options{Cluster: b.caller, Spec: s, Selection: schedule.Each(0, casesOf(names...)), Tree: "recipes", Tool: "test"}
}

func (b *bench) testVerdicts(t *testing.T) {
	for name, tt := range map[string]struct {
		behaviour string
		names     []string
		change    func(*Spec)
		want      check.Verdict
		// reason and notes have these in them.
		reason, notes []string
		// again says that a shard is tried a second time.
		retry bool
	}{
		"passes":       {names: []string{"a", "b", "c", "d", "e"}, want: check.Passed, reason: []string{"5 recipes passed"}},
		"one-by-one":   {names: []string{"a", "b", "c"}, change: func(s *Spec) { s.Shards, s.Parallel = 3, 1 }, want: check.Passed, reason: []string{"3 recipes passed"}},
		"fails":        {names: []string{"a", "bad", "c"}, want: check.Failed, reason: []string{"1 failed: bad"}},
		"fails-once":   {behaviour: "1:crash-once", names: []string{"a", "b", "c"}, want: check.Passed, reason: []string{"3 recipes passed"}, retry: true},
		"crashes":      {behaviour: "1:crash", names: []string{"a", "b", "c"}, want: check.Unobserved, reason: []string{"1 without a result: b", "shard 1 of 2: it published no report"}, notes: []string{"shard 1: it published no report; pod recipes-crashes-1-", "on worker-1: exit code 3; last log lines:\n    shard 1 begins\n    the control plane could not be started"}, retry: true},
		"usage":        {behaviour: "0:usage", names: []string{"a", "b"}, want: check.Unobserved, reason: []string{"shard 0 of 2: it published no report"}, notes: []string{"exit code 2", "unknown flag"}},
		"no-program":   {behaviour: "absent", names: []string{"a", "b"}, want: check.Unobserved, reason: []string{"the Job failed: PodFailurePolicy"}},
		"says-nothing": {behaviour: "0:silent", names: []string{"a", "b"}, want: check.Unobserved, reason: []string{"shard 0 of 2: it published no report"}, notes: []string{"on worker-1: exit code 0"}},
		"tampers":      {behaviour: "1:tamper", names: []string{"a", "bad"}, want: check.Unobserved, reason: []string{"shard 1 of 2: invalid report: its digest is"}},
		"ends-badly":   {behaviour: "1:late", names: []string{"a", "b"}, want: check.Unobserved, reason: []string{"shard 1 of 2: it published a report, but the Job does not count it as completed"}, notes: []string{"exit code 3"}, retry: true},
		"hangs":        {behaviour: "1:hang", names: []string{"a", "b"}, change: func(s *Spec) { s.ShardWithin = 5 * time.Second }, want: check.Unobserved, reason: []string{"shard 1 of 2: it published no report"}, notes: []string{"exit code 137, DeadlineExceeded", "shard 1 begins"}, retry: true},
		"takes-long":   {behaviour: "1:hang", names: []string{"a", "b"}, change: func(s *Spec) { s.Within, s.ShardWithin = 10*time.Second, 10*time.Second }, want: check.Unobserved, reason: []string{"the Job failed: DeadlineExceeded"}, notes: []string{"shard 1: it published no report"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !slices.Contains([]string{"passes", "fails", "fails-once", "crashes", "tampers", "hangs"}, name) {
				suite.Require(t, suite.All)
			}
			o := b.options(name, tt.behaviour, tt.names...)
			if tt.change != nil {
				tt.change(&o.Spec)
			}
			var seen []Progress
			o.Progress = func(p []Progress) { seen = append(seen, p...) }
			r, err := Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict != tt.want {
				t.Errorf("got %s (%s), want %s", r.Verdict, r.Reason, tt.want)
			}
			requireAll(t, "the reason", r.Reason, tt.reason)
			requireAll(t, "the notes", strings.Join(r.Notes, "\n"), tt.notes)
			retry := slices.ContainsFunc(seen, func(p Progress) bool {
				return strings.Contains(p.Text, "attempt 2 after")
			})
			if retry != tt.retry {
				t.Errorf("a shard was tried again: %t; the shards were seen as %v", retry, seen)
			}
			b.requireGone(t, o.Spec)
		})
	}
}

func requireAll(t *testing.T, what, text string, want []string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("%s does not say %q: %s", what, w, text)
		}
	}
}

// requireGone fails the test when anything of a run is left.
func (b *bench) requireGone(t *testing.T, s Spec) {
	t.Helper()
	left, err := kube.Guest{Cluster: b.admin}.LeftOf(t.Context(), s.RunID)
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	for _, kind := range []string{"configmaps", "serviceaccounts", "roles", "rolebindings"} {
		if names := b.labelled(t, s, kind); len(names) > 0 {
			t.Errorf("%s are left: %v", kind, names)
		}
	}
}

// labelled are the names of a run's objects of a kind, within its namespace.
func (b *bench) labelled(t *testing.T, s Spec, kind string) []string {
	t.Helper()
	var list metav1.PartialObjectMetadataList
	client, path := b.admin.Client.CoreV1().RESTClient(), "/api/v1"
	if strings.HasPrefix(kind, "role") {
		path = "/apis/rbac.authorization.k8s.io/v1"
	}
	data, err := client.Get().AbsPath(path, "namespaces", s.namespace(), kind).Param("labelSelector", kube.LabelRun+"="+s.RunID).DoRaw(t.Context())
	if err == nil {
		err = yaml.Unmarshal(data, &list)
	}
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, o := range list.Items {
		out = append(out, o.Name)
	}
	return out
}

func (b *bench) testRefusals(t *testing.T) {
	quota := func(hard corev1.ResourceList) func(*testing.T, string) {
		return func(t *testing.T, namespace string) {
			_, err := b.admin.Client.CoreV1().ResourceQuotas(namespace).Create(t.Context(), &corev1.ResourceQuota{
				ObjectMeta: metav1.ObjectMeta{Name: "small"}, Spec: corev1.ResourceQuotaSpec{Hard: hard},
			}, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			polltest.UntilNil(t, "the quota to be known", func() error {
				q, err := b.admin.Client.CoreV1().ResourceQuotas(namespace).Get(t.Context(), "small", metav1.GetOptions{})
				if err == nil && len(q.Status.Hard) == 0 {
					err = errors.New("it has no status")
				}
				return err
			})
		}
	}
	for name, tt := range map[string]struct {
		// prepare is given a namespace of the test's.
		prepare func(t *testing.T, namespace string)
		change  func(*Options)
		want    []string
	}{
		"no-namespace": {change: func(o *Options) { o.Spec.Namespace = "nowhere" },
			want: []string{"find namespace nowhere", "not found", "--namespace must exist"}},
		"no-right": {change: func(o *Options) {
			o.Cluster = b.callerWith(t, []byte("{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: no-rights}, rules: []}"))
			o.Spec.Keep = true // there is nothing to remove, and no right to look
		}, want: []string{"create namespace firstlight-no-right", "forbidden", "use an existing one: --namespace"}},
		"no-priority": {prepare: func(*testing.T, string) {}, change: func(o *Options) {
			o.Cluster = b.callerWith(t, []byte("{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: looks}, rules: [{apiGroups: [''], resources: [namespaces], verbs: [get]}]}"))
			o.Spec.Keep = true
		}, want: []string{"create priority class firstlight-no-priority", "forbidden", "--priority-class NAME"}},
		"no-watch": {change: func(o *Options) {
			o.Cluster = b.callerWith(t, []byte(strings.NewReplacer("name: firstlight-recipes", "name: blind", "resources: [pods, events]", "resources: [events]").Replace(string(rbac(t)))))
			o.Spec.Keep = true
		}, want: []string{"watch the run", "pods is forbidden", "needs get, list and watch"}},
		"no-jobs": {prepare: quota(corev1.ResourceList{"count/jobs.batch": resource.MustParse("0")}),
			want: []string{"create Job no-jobs/recipes-no-jobs", "exceeded quota: small", "quotas and admission policies"}},
		"no-pods": {prepare: quota(corev1.ResourceList{"pods": resource.MustParse("0")}),
			want: []string{"the cluster rejects the Job's pods", "exceeded quota: small"}},
		"no-class": {prepare: func(*testing.T, string) {}, change: func(o *Options) { o.Spec.PriorityClass = "absent" },
			want: []string{"the cluster rejects the Job's pods", "no PriorityClass with name absent"}},
		"preempts": {prepare: func(*testing.T, string) {}, change: func(o *Options) { o.Spec.PriorityClass = "system-cluster-critical" },
			want: []string{"the cluster rejects the Job's pods", "PreemptionPolicy"}},
		"no-image": {change: func(o *Options) { o.Spec.Image = "registry.example.com/absent:1" },
			want: []string{"cannot start on node worker-1: ImagePullBackOff: Back-off pulling image \"registry.example.com/absent:1\""}},
		"bad-shards": {change: func(o *Options) { o.Spec.Parallel = -1 }, want: []string{"invalid number of concurrent shards -1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !slices.Contains([]string{"no-namespace", "no-right", "no-watch", "no-pods", "no-image", "bad-shards"}, name) {
				suite.Require(t, suite.All)
			}
			o := b.options(name, "", "a", "b")
			if tt.prepare != nil {
				b.namespace(t, name)
				o.Spec.Namespace = name
				tt.prepare(t, name)
			}
			if tt.change != nil {
				tt.change(&o)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // far below the Job's deadline
			defer cancel()
			_, err := Run(ctx, o)
			if err == nil {
				t.Fatal("it ran")
			}
			requireAll(t, "the error", err.Error(), tt.want)
			if o.Spec.Keep {
				o.Cluster = b.admin
				if _, err := remove(t.Context(), b.admin, &o.Spec); err != nil {
					t.Error(err)
				}
			}
			b.requireGone(t, o.Spec)
		})
	}
}

// namespace makes one for a test, which is not a run's.
func (b *bench) namespace(t *testing.T, name string) {
	t.Helper()
	_, err := b.admin.Client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// A shard without room reports the scheduler's message, and runs later.
func (b *bench) testRoom(t *testing.T) {
	t.Parallel()
	o := b.options("room", "", "a", "b")
	o.Spec.Memory = resource.MustParse("200Gi") // of the node's 256
	var seen []Progress
	o.Progress = func(p []Progress) { seen = append(seen, p...) }
	r, err := Run(t.Context(), o)
	if err != nil || r.Verdict != check.Passed {
		t.Fatal(err, r.Verdict, r.Reason)
	}
	if !slices.ContainsFunc(seen, func(p Progress) bool {
		return p.Phase == Waiting && strings.Contains(p.Text, "for resources: 0/1 nodes are available: 1 Insufficient memory")
	}) {
		t.Errorf("no shard waited for memory: %v", seen)
	}
}

// An interrupt ends the shards and takes everything away.
func (b *bench) testInterrupt(t *testing.T) {
	t.Parallel()
	o := b.options("interrupted", "hang", "a", "b")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o.Progress = func(p []Progress) {
		if slices.ContainsFunc(p, func(p Progress) bool { return p.Phase == Running }) {
			cancel()
		}
	}
	if _, err := Run(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	b.requireGone(t, o.Spec)
}

// In a namespace that was given, everything of the run goes and all else stays.
func (b *bench) testGuest(t *testing.T) {
	t.Parallel()
	b.namespace(t, "theirs")
	theirs := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "recipes-guest-0", Labels: map[string]string{"app": "theirs"}}}
	if _, err := b.admin.Client.CoreV1().ConfigMaps("theirs").Create(t.Context(), theirs, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	o := b.options("guest", "", "a", "b")
	o.Spec.Namespace = "theirs"
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != check.Unobserved {
		t.Errorf("shard 0 could not publish, and the verdict is %s: %s", r.Verdict, r.Reason)
	}
	requireAll(t, "the notes", strings.Join(r.Notes, "\n"), []string{"it exists and is not a report of this run"})
	b.requireGone(t, o.Spec)
	if _, err := b.admin.Client.CoreV1().ConfigMaps("theirs").Get(t.Context(), theirs.Name, metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
}

// Keep leaves the objects in place, and the service account of a shard may only write reports.
func (b *bench) testRights(t *testing.T) {
	t.Parallel()
	o := b.options("kept", "", "a", "b")
	o.Spec.Keep = true
	if r, err := Run(t.Context(), o); err != nil || r.Verdict != check.Passed {
		t.Fatal(err, r.Verdict, r.Reason)
	}
	ns, job := o.Spec.namespace(), o.Spec.job()
	if maps := b.labelled(t, o.Spec, "configmaps"); len(maps) != 3 {
		t.Errorf("kept: %v", maps)
	}
	ctx, shard := t.Context(), b.as(t, ns, job).Client
	maps := shard.CoreV1().ConfigMaps(ns)
	report, err := maps.Get(ctx, job+"-0", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := maps.Update(ctx, report, metav1.UpdateOptions{}); err != nil {
		t.Error(err)
	}
	get := func(_ any, err error) error { return err }
	for what, err := range map[string]error{
		"read the names":            get(maps.Get(ctx, job+"-names", metav1.GetOptions{})),
		"list ConfigMaps":           get(maps.List(ctx, metav1.ListOptions{})),
		"delete a report":           maps.Delete(ctx, job+"-0", metav1.DeleteOptions{}),
		"read secrets":              get(shard.CoreV1().Secrets(ns).List(ctx, metav1.ListOptions{})),
		"list pods":                 get(shard.CoreV1().Pods(ns).List(ctx, metav1.ListOptions{})),
		"read the Job":              get(shard.BatchV1().Jobs(ns).Get(ctx, job, metav1.GetOptions{})),
		"create pods":               get(shard.CoreV1().Pods(ns).Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "x"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "x", Image: "x"}}}}, metav1.CreateOptions{})),
		"write to other namespaces": get(shard.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "x"}}, metav1.CreateOptions{})),
		"get a token":               get(tokenOf(ctx, shard, ns, job)),
	} {
		if !apierrors.IsForbidden(err) {
			t.Errorf("a shard may %s: %v", what, err)
		}
	}
	if _, err := remove(ctx, b.caller, &o.Spec); err != nil {
		t.Error(err)
	}
	b.requireGone(t, o.Spec)
}

// A recipe tree gets there as it is.
func (b *bench) testTree(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "recipes")
	if err := os.CopyFS(dir, recipetest.Small()); err != nil {
		t.Fatal(err)
	}
	packed, err := recipe.Pack(dir)
	if err != nil {
		t.Fatal(err)
	}
	o := b.options("tree", "", "a", "b")
	o.Spec.Recipes = packed
	r, err := Run(t.Context(), o)
	if err != nil || r.Verdict != check.Passed {
		t.Fatal(err, r.Verdict, r.Reason, r.Notes)
	}
	if want := fmt.Sprintf("%s has 8 overlays", dir); !slices.Contains(r.Notes, want) {
		t.Errorf("notes %q, want %q", r.Notes, want)
	}
}

// requireNoneLeft fails if a watch of a run is still open.
func requireNoneLeft(t *testing.T) {
	t.Helper()
	polltest.UntilNil(t, "goroutines to end", func() error {
		stacks := make([]byte, 8<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		for one := range strings.SplitSeq(string(stacks), "\n\n") {
			if strings.Contains(one, "/schedule/fanout.(*watcher)") || strings.Contains(one, "created by github.com/firstlight/firstlight/internal/schedule/fanout.(*watcher)") {
				return errors.New(one)
			}
		}
		return nil
	})
}
