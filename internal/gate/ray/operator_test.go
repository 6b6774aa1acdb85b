package ray

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// The probe is reconciled without pods. If it is resumed or has a pod, the gate stops at once and fails. No node matches
// its pods, and it does not remain.
func TestOperator(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		state   string
		resumed bool
		pod     bool
		prunes  bool
		most    time.Duration // simulated
		want    string        // a finding
	}{
		"reconciled":           {state: suspended, most: time.Second},
		"no operator":          {most: 3 * time.Minute, want: "did not reconcile"},
		"no spec.suspend":      {state: "ready", prunes: true, most: time.Second, want: "KubeRay 1.1 or newer is needed"},
		"resumed":              {resumed: true, most: time.Second, want: "spec.suspend was set to false"},
		"resumed and ready":    {state: "ready", resumed: true, most: time.Second, want: "spec.suspend was set to false"},
		"a pod":                {pod: true, most: time.Second, want: "has 1 pods"},
		"suspended with a pod": {state: suspended, pod: true, most: time.Second, want: "has 1 pods"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, p := raySite(t)
			began := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
			clock := testingclock.NewFakePassiveClock(began)
			g := New(s, p, depsAt(clock))
			client := fake.NewClientset()
			if tt.pod {
				client = fake.NewClientset(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "probe-head", Namespace: "ray", Labels: map[string]string{labelCluster: g.probeName()}}})
			}
			rays := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{kube.RayClusters(): "RayClusterList"})
			if tt.prunes { // the API server does, without spec.suspend in the definition
				rays.PrependReactor("create", "rayclusters", func(a clienttesting.Action) (bool, runtime.Object, error) {
					create, ok := a.(clienttesting.CreateAction)
					if !ok {
						return true, nil, fmt.Errorf("not a create: %v", a)
					}
					u, ok := create.GetObject().(*unstructured.Unstructured)
					if !ok {
						return true, nil, fmt.Errorf("not a RayCluster: %v", a)
					}
					unstructured.RemoveNestedField(u.Object, "spec", "suspend")
					return false, nil, nil
				})
			}
			rays.PrependReactor("get", "rayclusters", func(a clienttesting.Action) (bool, runtime.Object, error) {
				get, ok := a.(clienttesting.GetAction)
				if !ok {
					return true, nil, fmt.Errorf("not a get: %v", a)
				}
				object, err := rays.Tracker().Get(kube.RayClusters(), get.GetNamespace(), get.GetName())
				u, ok := object.(*unstructured.Unstructured)
				if err != nil || !ok {
					return true, nil, err
				}
				u = u.DeepCopy()
				u.Object["status"] = map[string]any{"state": tt.state}
				err = unstructured.SetNestedField(u.Object, !tt.resumed, "spec", "suspend")
				return true, u, err
			})
			var rec book
			if err := g.observeOperator(t.Context(), &kube.Cluster{Client: client, Dynamic: rays}, &rec); err != nil || len(rec) != 1 {
				t.Fatal(err, rec)
			}
			if took := clock.Since(began); took > tt.most {
				t.Errorf("it took %s", took)
			}
			var b check.Builder
			g.judgeOperator(&b, rec)
			j := b.Judgement("")
			if tt.want == "" && len(j.Findings) > 0 || tt.want != "" && (len(j.Findings) != 1 || (j.Verdict == check.Unobserved) != tt.prunes) {
				t.Errorf("%s: %+v", j.Verdict, j.Findings)
			}
			for _, f := range j.Findings {
				if !strings.Contains(f.Message, tt.want) {
					t.Errorf("%q, want %q", f.Message, tt.want)
				}
			}
			left, err := rays.Resource(kube.RayClusters()).Namespace("ray").List(t.Context(), metav1.ListOptions{})
			if err != nil || len(left.Items) > 0 {
				t.Errorf("left: %v, %v", left.Items, err)
			}
			selector, _, err := unstructured.NestedStringMap(g.suspendedCluster().Object, "spec", "headGroupSpec", "template", "spec", "nodeSelector")
			if err != nil || len(selector) == 0 {
				t.Errorf("a node can have a pod of the probe: %v, %v", selector, err)
			}
		})
	}
}
