package resources_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/validate/resources"
)

// notebook takes observations as a store would.
type notebook struct{ obs []check.Observation }

func (n *notebook) Record(o check.Observation) (check.Observation, error) {
	o.ID = fmt.Sprintf("%04d", len(n.obs))
	n.obs = append(n.obs, o)
	return o, nil
}

func (*notebook) Progress(string, ...any) {}

func meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: "ns", Generation: 2, Labels: map[string]string{"app": name}}
}

func two() *int32 { n := int32(2); return &n }

func deployment(edit ...func(*appsv1.Deployment)) *appsv1.Deployment {
	d := &appsv1.Deployment{
		ObjectMeta: meta("d"),
		Spec:       appsv1.DeploymentSpec{Replicas: two(), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "d"}}},
		Status:     appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 2, UpdatedReplicas: 2, ReadyReplicas: 2, AvailableReplicas: 2},
	}
	for _, e := range edit {
		e(d)
	}
	return d
}

func daemonSet(edit ...func(*appsv1.DaemonSet)) *appsv1.DaemonSet {
	d := &appsv1.DaemonSet{
		ObjectMeta: meta("s"),
		Spec:       appsv1.DaemonSetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "s"}}},
		Status:     appsv1.DaemonSetStatus{ObservedGeneration: 2, DesiredNumberScheduled: 3, CurrentNumberScheduled: 3, UpdatedNumberScheduled: 3, NumberReady: 3, NumberAvailable: 3},
	}
	for _, e := range edit {
		e(d)
	}
	return d
}

func statefulSet(edit ...func(*appsv1.StatefulSet)) *appsv1.StatefulSet {
	d := &appsv1.StatefulSet{
		ObjectMeta: meta("t"),
		Spec:       appsv1.StatefulSetSpec{Replicas: two(), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "t"}}},
		Status:     appsv1.StatefulSetStatus{ObservedGeneration: 2, Replicas: 2, UpdatedReplicas: 2, ReadyReplicas: 2, AvailableReplicas: 2},
	}
	for _, e := range edit {
		e(d)
	}
	return d
}

func job(conditions ...batchv1.JobConditionType) *batchv1.Job {
	j := &batchv1.Job{ObjectMeta: meta("j"), Status: batchv1.JobStatus{Active: 1}}
	for _, c := range conditions {
		j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{Type: c, Status: corev1.ConditionTrue, Reason: "Because", Message: "of it"})
	}
	return j
}

func pod(app, name string, status corev1.PodStatus) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ns", Labels: map[string]string{"app": app}}, Status: status}
}

var (
	d = resources.Object{Kind: "Deployment", Namespace: "ns", Name: "d", Component: "one"}
	s = resources.Object{Kind: "DaemonSet", Namespace: "ns", Name: "s", Component: "one", CreatedBy: "ClusterPolicy"}
	u = resources.Object{Kind: "StatefulSet", Namespace: "ns", Name: "t", Component: "two"}
	j = resources.Object{Kind: "Job", Namespace: "ns", Name: "j", Component: "two"}
	v = resources.Object{Kind: "Service", Namespace: "ns", Name: "v", Component: "two"}
)

// clusterOf is a cluster of objects, for what of it is only seen.
func clusterOf(objects ...runtime.Object) *kube.Cluster {
	client := fake.NewClientset(append(objects, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ns"}})...)
	client.Resources = []*metav1.APIResourceList{{GroupVersion: "v1", APIResources: []metav1.APIResource{{Name: "services", Kind: "Service", Namespaced: true}}}}
	service := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": "v", "namespace": "ns"}}}
	return &kube.Cluster{Client: client, Dynamic: dynamicfake.NewSimpleDynamicClient(runtime.NewScheme(), service)}
}

func given(c *kube.Cluster) resources.Deps {
	return resources.Deps{Cluster: func(context.Context) (*kube.Cluster, error) { return c, nil }}
}

// observe looks, in a time of its own, and says how long that took.
func observe(t *testing.T, c *kube.Cluster, expected []resources.Object) (obs []check.Observation) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var n notebook
		began := time.Now()
		if err := resources.New(expected, given(c), resources.Options{}).Observe(t.Context(), &n); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("it took %s", took)
		}
		obs = n.obs
	})
	return obs
}

func node(name string, taints ...corev1.Taint) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"gpu": name}}, Spec: corev1.NodeSpec{Taints: taints}}
}

func nowhere(d *appsv1.DaemonSet) {
	d.Status = appsv1.DaemonSetStatus{ObservedGeneration: 2}
	d.Spec.Template.Spec.NodeSelector = map[string]string{"gpu": "b"}
}

func TestResources(t *testing.T) {
	t.Parallel()
	gpu := corev1.Taint{Key: "nvidia.com/gpu", Value: "present", Effect: corev1.TaintEffectNoSchedule}
	pulling := corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "no such image"}}}}}
	homeless := corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/3 nodes are available"}}}
	ready := corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
	for name, tt := range map[string]struct {
		expected []resources.Object
		objects  []runtime.Object
		want     check.Verdict
		// says is each finding: suspect and message.
		says []string
	}{
		"all objects exist":          {[]resources.Object{d, s, u, j, v}, []runtime.Object{deployment(), daemonSet(), statefulSet(), job(batchv1.JobComplete)}, check.Passed, nil},
		"nothing is expected":        {nil, nil, check.Failed, []string{"recipe: its components create no objects"}},
		"one is missing":             {[]resources.Object{d, u}, []runtime.Object{deployment()}, check.Failed, []string{"StatefulSet ns/t: component two: not found"}},
		"one that an operator makes": {[]resources.Object{d, s}, []runtime.Object{deployment()}, check.Failed, []string{"DaemonSet ns/s: component one: not found; an operator creates it from a ClusterPolicy"}},
		"its namespace is missing":   {[]resources.Object{d, {Kind: "Deployment", Namespace: "gone", Name: "x", Component: "two"}}, []runtime.Object{deployment()}, check.Failed, []string{"Deployment gone/x: component two: not found, and neither is the namespace gone"}},
		"all are named":              {[]resources.Object{d, s, u}, nil, check.Failed, []string{"Deployment ns/d: ", "DaemonSet ns/s: ", "StatefulSet ns/t: "}},
		"another of the name":        {[]resources.Object{{Kind: "StatefulSet", Namespace: "ns", Name: "d", Component: "one"}}, []runtime.Object{deployment()}, check.Failed, []string{"StatefulSet ns/d: component one: not found"}},
		"ready is not desired": {
			[]resources.Object{d}, []runtime.Object{deployment(func(d *appsv1.Deployment) {
				d.Status.ReadyReplicas, d.Status.AvailableReplicas = 1, 1
				d.Status.Conditions = []appsv1.DeploymentCondition{
					{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionFalse, Reason: "MinimumReplicasUnavailable", Message: "too few"},
					{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue},
				}
			}), pod("d", "d-0", ready), pod("d", "d-1", pulling), pod("other", "o", pulling)},
			check.Failed, []string{"Deployment ns/d: component one: 1 of 2 pods are ready; Available is False: MinimumReplicasUnavailable: too few; pod d-1: phase Pending, container main: ImagePullBackOff no such image"},
		},
		"unschedulable pods": {
			[]resources.Object{u}, []runtime.Object{statefulSet(func(d *appsv1.StatefulSet) { d.Status.ReadyReplicas, d.Status.AvailableReplicas = 0, 0 }),
				pod("t", "t-0", homeless), pod("t", "t-1", homeless), pod("t", "t-2", homeless), pod("t", "t-3", homeless), pod("t", "t-4", homeless)},
			check.Failed, []string{"StatefulSet ns/t: component two: 0 of 2 pods are ready; pod t-0: phase Pending, Unschedulable: 0/3 nodes are available; pod t-1: phase Pending, Unschedulable: 0/3 nodes are available; pod t-2: phase Pending, Unschedulable: 0/3 nodes are available; and 2 more pods"},
		},
		"ready, and not available": {[]resources.Object{d}, []runtime.Object{deployment(func(d *appsv1.Deployment) { d.Status.AvailableReplicas = 1 })}, check.Failed, []string{"1 of 2 are available"}},
		"of an old template":       {[]resources.Object{d}, []runtime.Object{deployment(func(d *appsv1.Deployment) { d.Status.UpdatedReplicas = 1 })}, check.Failed, []string{"1 of 2 are of the current template"}},
		"an old pod lingers":       {[]resources.Object{d}, []runtime.Object{deployment(func(d *appsv1.Deployment) { d.Status.Replicas = 3 })}, check.Failed, []string{"3 exist, which is 1 too many"}},
		"a status of before":       {[]resources.Object{d}, []runtime.Object{deployment(func(d *appsv1.Deployment) { d.Status.ObservedGeneration = 1 })}, check.Failed, []string{"its controller has not reconciled it: generation is 2, observedGeneration 1"}},
		"no replicas": {[]resources.Object{d}, []runtime.Object{deployment(func(d *appsv1.Deployment) {
			d.Spec.Replicas, d.Status = new(int32), appsv1.DeploymentStatus{ObservedGeneration: 2}
		})}, check.Failed, []string{"desires no pods: replicas is 0"}},
		"no replicas of a set": {[]resources.Object{u}, []runtime.Object{statefulSet(func(d *appsv1.StatefulSet) {
			d.Spec.Replicas, d.Status = new(int32), appsv1.StatefulSetStatus{ObservedGeneration: 2}
		})}, check.Failed, []string{"desires no pods: replicas is 0"}},
		"it is being deleted": {[]resources.Object{d}, []runtime.Object{deployment(func(d *appsv1.Deployment) {
			d.DeletionTimestamp, d.Finalizers = &metav1.Time{Time: time.Unix(1, 0)}, []string{"x/y"}
		})}, check.Failed, []string{"is being deleted"}},
		"0 of 0, no node":             {[]resources.Object{s}, []runtime.Object{daemonSet(nowhere)}, check.Failed, []string{"DaemonSet ns/s: component one: desires no pods: 0 of 0 are ready; the cluster has no node"}},
		"0 of 0, no node is selected": {[]resources.Object{s}, []runtime.Object{daemonSet(nowhere), node("a")}, check.Failed, []string{"0 of 0 are ready; it selects none of 1 nodes (gpu=b)"}},
		"0 of 0, taints":              {[]resources.Object{s}, []runtime.Object{daemonSet(nowhere), node("a"), node("b", gpu)}, check.Failed, []string{"it selects 1 of 2 nodes and does not tolerate their taints: nvidia.com/gpu=present:NoSchedule"}},
		"0 of 0, tolerated": {[]resources.Object{s}, []runtime.Object{daemonSet(nowhere, func(d *appsv1.DaemonSet) {
			d.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Key: "nvidia.com/gpu", Operator: corev1.TolerationOpExists}}
		}), node("a"), node("b", gpu)}, check.Failed, []string{"it selects 1 of 2 nodes"}},
		"2 of 3":          {[]resources.Object{s}, []runtime.Object{daemonSet(func(d *appsv1.DaemonSet) { d.Status.NumberReady = 2; d.Status.NumberAvailable = 2 })}, check.Failed, []string{"2 of 3 pods are ready"}},
		"an old template": {[]resources.Object{s}, []runtime.Object{daemonSet(func(d *appsv1.DaemonSet) { d.Status.UpdatedNumberScheduled = 1 })}, check.Failed, []string{"1 of 3 are of the current template"}},
		"an old template, on delete": {[]resources.Object{s}, []runtime.Object{daemonSet(func(d *appsv1.DaemonSet) {
			d.Status.UpdatedNumberScheduled, d.Spec.UpdateStrategy.Type = 1, appsv1.OnDeleteDaemonSetStrategyType
		})}, check.Passed, nil},
		"a Job that runs":          {[]resources.Object{d, j}, []runtime.Object{deployment(), job()}, check.Failed, []string{"Job ns/j: component two: is not complete: 0 of 1 succeeded, 1 active"}},
		"a Job that failed":        {[]resources.Object{d, j}, []runtime.Object{deployment(), job(batchv1.JobFailed)}, check.Failed, []string{"Job ns/j: component two: failed; Failed is True: Because: of it"}},
		"a Job that is suspended":  {[]resources.Object{d, j}, []runtime.Object{deployment(), job(batchv1.JobSuspended)}, check.Failed, []string{"is not complete: 0 of 1 succeeded, 1 active; Suspended is True"}},
		"a Job that is gone":       {[]resources.Object{d, j}, []runtime.Object{deployment()}, check.Passed, nil},
		"only a Job that is gone":  {[]resources.Object{j}, nil, check.Unobserved, []string{"cluster: no expected object was observed"}},
		"another kind, missing":    {[]resources.Object{d, {Kind: "Service", Namespace: "ns", Name: "w", Component: "two"}}, []runtime.Object{deployment()}, check.Failed, []string{"Service ns/w: component two: not found"}},
		"another kind, not served": {[]resources.Object{d, {Kind: "Thing", Name: "w", Component: "two"}}, []runtime.Object{deployment()}, check.Failed, []string{"Thing w: component two: the API server does not serve kind Thing"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			obs := observe(t, clusterOf(tt.objects...), tt.expected)
			stored, err := json.Marshal(obs)
			if err != nil {
				t.Fatal(err)
			}
			var again []check.Observation
			if err := json.Unmarshal(stored, &again); err != nil {
				t.Fatal(err)
			}
			got := resources.New(tt.expected, resources.Deps{}, resources.Options{}).Judge(again) // as a replay does
			wants(t, got, tt.want, tt.says)
		})
	}
}

func wants(t *testing.T, got check.Judgement, want check.Verdict, says []string) {
	t.Helper()
	if got.Verdict != want || got.Reason == "" || len(got.Findings) != len(says) {
		t.Errorf("%s: %s\n%+v", got.Verdict, got.Reason, got.Findings)
	}
	for _, text := range says {
		if !slices.ContainsFunc(got.Findings, func(f check.Finding) bool {
			return strings.Contains(f.Suspect+": "+f.Message, text) && f.Remedy != ""
		}) {
			t.Errorf("nothing says %q:\n%+v", text, got.Findings)
		}
	}
}

// It is waited for what is on its way, and no longer.
func TestItWaits(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		after time.Duration
		want  check.Verdict
		took  time.Duration
	}{
		"at once":      {0, check.Passed, 0},
		"after 4 s":    {4 * time.Second, check.Passed, 4 * time.Second},
		"after a time": {time.Minute, check.Failed, 9 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, began := clusterOf(), time.Now()
				c.Client.(*fake.Clientset).PrependReactor("get", "deployments", func(clienttesting.Action) (bool, runtime.Object, error) {
					if time.Since(began) < tt.after {
						return true, nil, apierrors.NewNotFound(schema.GroupResource{Resource: "deployments"}, "d")
					}
					return true, deployment(), nil
				})
				var n notebook
				k := resources.New([]resources.Object{d}, given(c), resources.Options{})
				if err := k.Observe(t.Context(), &n); err != nil {
					t.Fatal(err)
				}
				if got := k.Judge(n.obs); got.Verdict != tt.want || time.Since(began) != tt.took || n.obs[0].Took.Duration != tt.took {
					t.Errorf("%s after %s: %+v", got.Verdict, time.Since(began), got)
				}
			})
		})
	}
}

// A failed read of the cluster is unobserved.
func TestUnseen(t *testing.T) {
	t.Parallel()
	gr := schema.GroupResource{Resource: "deployments"}
	for name, err := range map[string]error{
		"forbidden": apierrors.NewForbidden(gr, "d", errors.New("no")), "unreachable": errors.New("connection refused"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := clusterOf(daemonSet())
			c.Client.(*fake.Clientset).PrependReactor("get", "deployments", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, err })
			obs := observe(t, c, []resources.Object{d, s})
			wants(t, resources.New([]resources.Object{d, s}, resources.Deps{}, resources.Options{}).Judge(obs), check.Unobserved, []string{"cluster: inventory on cluster: read Deployment ns/d: "})
		})
	}
	t.Run("unreadable cause", func(t *testing.T) { // the failure stays
		t.Parallel()
		c := clusterOf(deployment(func(d *appsv1.Deployment) { d.Status.ReadyReplicas, d.Status.AvailableReplicas = 1, 1 }))
		c.Client.(*fake.Clientset).PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
			return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New("no"))
		})
		obs := observe(t, c, []resources.Object{d})
		wants(t, resources.New([]resources.Object{d}, resources.Deps{}, resources.Options{}).Judge(obs), check.Failed, []string{"1 of 2 pods are ready; cannot read the cause: pods is forbidden"})
	})
}

// The observation must be of exactly what is expected.
func TestObservationsAreComplete(t *testing.T) {
	t.Parallel()
	obs := observe(t, clusterOf(deployment(), daemonSet()), []resources.Object{d, s})
	renamed := d
	renamed.Component = "another"
	for name, tt := range map[string]struct {
		expected []resources.Object
		obs      []check.Observation
		want     check.Verdict
	}{
		"as it is":                {[]resources.Object{d, s}, obs, check.Passed},
		"none":                    {[]resources.Object{d, s}, nil, check.Unobserved},
		"two":                     {[]resources.Object{d, s}, append(obs, obs...), check.Unobserved},
		"more is expected":        {[]resources.Object{d, s, u}, obs, check.Unobserved},
		"of another component":    {[]resources.Object{renamed, s}, obs, check.Unobserved},
		"one that is invalid":     {[]resources.Object{d, s}, []check.Observation{{Kind: obs[0].Kind, Figures: json.RawMessage(`[]`)}}, check.Unobserved},
		"one without its objects": {[]resources.Object{d, s}, []check.Observation{{Kind: obs[0].Kind, Figures: json.RawMessage(`{}`)}}, check.Unobserved},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := resources.New(tt.expected, resources.Deps{}, resources.Options{}).Judge(tt.obs); got.Verdict != tt.want {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestObserveFailsWithoutACluster(t *testing.T) {
	t.Parallel()
	if err := resources.New([]resources.Object{d}, resources.Deps{}, resources.Options{}).Observe(t.Context(), &notebook{}); err == nil {
		t.Error("no cluster was needed")
	}
	down := errors.New("it is down")
	deps := resources.Deps{Cluster: func(context.Context) (*kube.Cluster, error) { return nil, down }}
	if err := resources.New([]resources.Object{d}, deps, resources.Options{}).Observe(t.Context(), &notebook{}); !errors.Is(err, down) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := resources.New([]resources.Object{d}, given(clusterOf()), resources.Options{}).Observe(ctx, &notebook{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	if got := resources.New([]resources.Object{d, s, u, d}, resources.Deps{}, resources.Options{}).Describe(); !slices.Equal(got, []string{"read 1 DaemonSet, 2 Deployment, 1 StatefulSet, timeout 10s"}) {
		t.Errorf("%q", got)
	}
	if got := resources.New(nil, resources.Deps{}, resources.Options{}).Describe(); !slices.Equal(got, []string{"no objects expected: the step fails"}) {
		t.Errorf("%q", got)
	}
}
